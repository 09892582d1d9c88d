"""Outputs of a run for a GitHub Actions job."""

import os
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from kotef.cli.annotations import SHOWN, annotation, in_checkout
from kotef.cli.screen import plain, say
from kotef.errors import KotefError
from kotef.redaction import redactor
from kotef.report import Located, located, step_summary_text
from kotef.runs import store
from kotef.runs.result import Result
from kotef.sdd.export import inert

_LARGEST: Final = 900_000
"""Bytes of a step summary; GitHub rejects more than 1 MiB."""


def tell_result(root: Path, result: Result, *, annotated: bool) -> None:
    """Write the summary and the outputs for the runner, and print annotations for what still fails."""
    run = store.at(root, result.run_id)
    failures = redactor().whole(located(run, result))
    branch = result.branch.name if result.branch and result.branch.commit else ""
    _append("GITHUB_STEP_SUMMARY", step_summary_text(result, failures))
    _outputs(
        {
            "outcome": result.outcome,
            "exit-code": str(result.exit_code),
            "run-id": result.run_id,
            "branch": branch,
            "result": str(run.record / "result.json"),
        }
    )
    if annotated:
        say("".join(f"{line}\n" for line in annotations(result, failures, in_checkout(root))))


def tell_error(error: KotefError, *, annotated: bool) -> None:
    """The same if nothing was run, for example after a usage error."""
    text = " ".join(redactor().text(str(error)).split())
    _append("GITHUB_STEP_SUMMARY", f"## ❌ kotef: nothing was run\n\n{inert(text, 2000)}\n")
    _outputs({"outcome": "", "exit-code": str(error.exit_code), "run-id": "", "branch": "", "result": ""})
    if annotated:
        say(annotation("error", text, title="kotef") + "\n")


def annotations(result: Result, failures: Sequence[Located], prefix: str = "") -> Iterator[str]:
    """The run itself, unless it succeeded; then what fails, as much as GitHub shows, the most useful first.

    Paths begin with `prefix`: GitHub counts them from the top of the checkout.
    """
    room = {"error": SHOWN, "warning": SHOWN}
    if not result.done:
        blocking = sum(one.blocks for one in failures)
        more = f" ({blocking} tests or checks still fail; the summary lists them)" if blocking >= SHOWN else ""
        title = f"kotef: {result.outcome}"
        yield annotation("error", f"{result.sentence}{more}", title=title)
        room["error"] -= 1
    if result.branch and result.branch.refused:
        yield annotation("warning", result.branch.refused, title=f"kotef: no branch {result.branch.name}")
        room["warning"] -= 1
    for one in failures:
        if not one.check and not one.test:
            continue  # it is the run itself
        level = "error" if one.blocks else "warning"
        if room[level] > 0:
            room[level] -= 1
            file = f"{prefix}{one.file}" if one.file else ""
            yield annotation(
                "error" if one.blocks else "warning", one.message, title=one.title, file=file, line=one.line
            )


def _outputs(values: Mapping[str, str]) -> None:
    """Write each value between two random lines, so that no value can end itself and set another."""
    end = f"end_{secrets.token_hex(16)}"
    _append("GITHUB_OUTPUT", "".join(f"{name}<<{end}\n{value}\n{end}\n" for name, value in values.items()))


def _append(variable: str, text: str) -> None:
    """Append to the file that the runner names; a missing file or a full disk does not change the run's status."""
    path = os.environ.get(variable)
    if not path:
        return
    content = text.encode("utf-8", "replace")
    if len(content) > _LARGEST:
        content = content[:_LARGEST].decode("utf-8", "ignore").encode() + b"\n\n(cut: the report has the rest)\n"
    try:
        with Path(path).open("ab") as file:
            file.write(content)
    except OSError as error:
        sys.stderr.write(f"kotef: warning: {variable} cannot be written: {plain(str(error))}\n")
