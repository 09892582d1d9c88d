"""Output of `kotef classify` for people and CI jobs."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import BinaryIO, Final

import click

from kotef.checks.contradictions import diagnosis_of
from kotef.classification import ENVIRONMENT_FAULTS, Diagnosis, classify_text
from kotef.errors import UsageError

HEAD: Final = 1 << 20
TAIL: Final = 4 << 20
"""Bytes kept of the input's beginning and end; what is between is read past, so that any length will do."""
CHUNK: Final = 1 << 20


def classify_command(source: str, command: str, exit_code: int | None, *, as_json: bool) -> None:
    """`kotef classify`: read FILE or standard input and print what it is taken to mean."""
    with _opened(source) as stream:
        try:
            output = read_ends(stream)
        except OSError as error:
            raise UsageError(f"{source}: {error.strerror or error}", hint="name a file that can be read") from error
    diagnosis = classify_text(command, output) if exit_code is None else diagnosis_of(command, exit_code, output)
    here = f"{Path.cwd()}{os.sep}"
    diagnosis = replace(diagnosis, summary=diagnosis.summary.replace(here, ""))
    if as_json:
        from kotef.cli.screen import say_json

        say_json(as_object(diagnosis, command, exit_code))
    else:
        looks_red = diagnosis.kind is None and classify_text("", output).kind is not None
        click.echo("\n".join(as_lines(diagnosis, exit_code, looks_red=looks_red)))


@contextmanager
def _opened(source: str) -> Iterator[BinaryIO]:
    """Standard input for `-`, else the file."""
    if source == "-":
        if sys.stdin.isatty():
            click.echo("kotef: reading the output from the terminal; end it with Ctrl-D", err=True)
        yield sys.stdin.buffer
        return
    try:
        with Path(source).open("rb") as stream:
            yield stream
    except OSError as error:
        raise UsageError(f"{source}: {error.strerror}", hint="name a file, or `-` for standard input") from error


def read_ends(stream: BinaryIO) -> str:
    """The beginning and the end of a stream as text; at most HEAD + TAIL + CHUNK bytes are held."""
    head = b""
    while len(head) < HEAD and (chunk := stream.read(HEAD - len(head))):
        head += chunk
    tail, cut = bytearray(), False
    while chunk := stream.read(CHUNK):
        tail += chunk
        if len(tail) > TAIL:
            del tail[:-TAIL]
            cut = True
    return b"".join((head, b"\n" if cut else b"", tail)).decode("utf-8", "replace")


def as_object(diagnosis: Diagnosis, command: str, exit_code: int | None) -> dict[str, object]:
    """The JSON form; `kind` is null when nothing reports a failure, `exitCode` when it was not given."""
    return {
        "command": command,
        "exitCode": exit_code,
        **asdict(diagnosis),
        "environmentFault": diagnosis.detail in ENVIRONMENT_FAULTS,
    }


def as_lines(diagnosis: Diagnosis, exit_code: int | None, *, looks_red: bool = False) -> Iterator[str]:
    """The form for people: what it is, the summary, the tests, the fingerprint.

    `looks_red`: without the exit status the text would be taken for a failure.
    """
    if diagnosis.kind is None and looks_red:
        yield "no failure: the exit status is 0, although some lines look like a failure"
        return
    if diagnosis.kind is None and diagnosis.summary:
        yield f"no failure: {diagnosis.summary}"
        return
    if diagnosis.kind is None:
        status = "exit status 0" if exit_code == 0 else "the exit status is not known"
        yield f"no failure: {status}, and nothing in the output reports one"
        return
    fault = ", the machine and not the code" if diagnosis.detail in ENVIRONMENT_FAULTS else ""
    yield f"{diagnosis.kind} ({diagnosis.detail}{fault})"
    yield from (f"  {line}" for line in diagnosis.summary.splitlines())
    if len(diagnosis.tests) > 1:
        yield "failing tests:"
        yield from (f"  {test}" for test in diagnosis.tests)
    yield f"fingerprint {diagnosis.fingerprint}"
