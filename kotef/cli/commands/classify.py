"""`kotef classify`: what the output of a failed command means."""

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
from kotef.cli.options import JSON
from kotef.errors import UsageError

HEAD: Final = 1 << 20
TAIL: Final = 4 << 20
"""Bytes kept from the beginning and the end of the input; the middle is skipped, so any length works."""
CHUNK: Final = 1 << 20


@click.command()
@click.argument("file", default="-", type=click.Path(dir_okay=False, allow_dash=True))
@click.option(
    "--command", default="", metavar="CMD", help="The command that printed it; makes the answer more certain."
)
@click.option("--exit-code", type=int, metavar="N", help="Its exit status; -N for signal N.  [default: unknown]")
@JSON
def classify(file: str, command: str, exit_code: int | None, as_json: bool) -> None:
    """Explain the output in FILE, or on standard input: kind, summary, fingerprint.

    \b
    Examples:
      pytest -q 2>&1 | kotef classify --command "pytest -q"
      kotef classify --command "make test" --exit-code 2 --json build.log

    Reads output of any length and any bytes; runs nothing and calls no model. Without --exit-code the text alone
    decides. Exit status 0 whatever the output means; 2 if FILE cannot be read.
    """  # noqa: D301  click reads the backspace character
    with _opened(file) as stream:
        try:
            output = read_ends(stream)
        except OSError as error:
            raise UsageError(f"{file}: {error.strerror or error}", hint="name a file that can be read") from error
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
    """The JSON form; `kind` is null if nothing reports a failure, `exitCode` if it was not given."""
    return {
        "command": command,
        "exitCode": exit_code,
        **asdict(diagnosis),
        "environmentFault": diagnosis.detail in ENVIRONMENT_FAULTS,
    }


def as_lines(diagnosis: Diagnosis, exit_code: int | None, *, looks_red: bool = False) -> Iterator[str]:
    """The text form: kind, summary, tests, fingerprint.

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
    fault = ", caused by the machine, not the code" if diagnosis.detail in ENVIRONMENT_FAULTS else ""
    yield f"{diagnosis.kind} ({diagnosis.detail}{fault})"
    yield from (f"  {line}" for line in diagnosis.summary.splitlines())
    if len(diagnosis.tests) > 1:
        yield "failing tests:"
        yield from (f"  {test}" for test in diagnosis.tests)
    yield f"fingerprint {diagnosis.fingerprint}"
