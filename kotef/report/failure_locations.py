"""Failures left in the final tree of a run, each with file and line."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from kotef.checks.failure_list import failures_of
from kotef.checks.types import CommandResult
from kotef.checks.verification import CheckVerdict, Verification
from kotef.runs.result import Result
from kotef.runs.store import RunDir

LARGEST = 2_000_000
"""Bytes read from the end of an output, where runners report failures."""


class Located(NamedTuple):
    """One failing test or check."""

    blocks: bool
    """Whether it blocks success; else it was red before the run and is not part of the task."""
    check: str
    """The name of its check; empty for the run as a whole."""
    test: str
    """Empty when it is not a test."""
    message: str
    file: str
    """From the workspace root; empty when no file of the workspace was named."""
    line: int | None
    rule: str
    """Its kind, such as `test_failure/assertion`."""

    @property
    def title(self) -> str:
        """The test, else its check, else the run."""
        return self.test or self.check or "kotef"


def judged(run: RunDir, visit: int) -> Verification | None:
    """The newest verification up to a visit; None if there is none on record."""
    for number in range(visit, -1, -1):
        try:
            return Verification.model_validate_json((run.path / f"visit-{number}.json").read_bytes())
        except (OSError, ValidationError):  # it was over before it was judged, or its record is lost
            continue
    return None


def located(run: RunDir, result: Result) -> tuple[Located, ...]:
    """What blocks first, broken tests before others and those with a line before those without; never empty for a red.

    Names are those of the verdict; messages and places are read from the outputs (heuristic), and may be missing.
    """
    verification = judged(run, result.tree_visit)
    found = list(_of(run, verification)) if verification else []
    broken = set(verification.broken) if verification else set()
    if not result.done and not any(one.blocks for one in found):
        found.insert(0, _whole(result))
    return tuple(sorted(found, key=lambda one: (not one.blocks, one.test not in broken, one.line is None)))


def _of(run: RunDir, verification: Verification) -> Iterator[Located]:
    excused = set(verification.preexisting)
    root = run.record.parents[2]
    for check in verification.checks:
        names = _names(check)
        for failure in failures_of(_result(run, check, names), root):
            key = f"{check.name}: {failure.test}"
            passed_over = check.satisfied or check.advisory or bool({failure.test, key} & excused)
            file = failure.file if _is_inside(failure.file) else ""
            yield Located(
                blocks=not passed_over,
                check=check.name,
                test=failure.test,
                message=failure.message or f"failed: {check.command}",
                file=file,
                line=failure.line if file else None,
                rule=_rule(check.kind or "unknown", check.detail),
            )
    for tests, what in (
        (verification.missing, "ran before the run and no longer runs"),
        (verification.newly_skipped, "is skipped, and was not before the run"),
    ):
        for test in tests:
            yield Located(
                True, "", test, f"{test} {what}", _file_of(test), None, _rule("test_failure", "tests_missing")
            )


def _names(check: CheckVerdict) -> Sequence[str]:
    """The failing tests, without the check's name in front of ids that two checks share."""
    return [name.removeprefix(f"{check.name}: ") for name in (check.red or check.failing)]


def _result(run: RunDir, check: CheckVerdict, names: Sequence[str]) -> CommandResult:
    """The stored result of the check, as far as it was kept."""
    kept = check.model_dump(include={"command", "exit_code", "passed", "kind", "detail", "summary", "timed_out"})
    return CommandResult(**kept, stdout=_output(run, check.log), failing=tuple(names))


def _output(run: RunDir, log: str | None) -> str:
    """The end of an output; empty if it is not kept."""
    try:
        with (run.path / (log or "")).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - LARGEST))
            return file.read().decode("utf-8", "replace")
    except (OSError, ValueError):  # a record of another version, or a damaged one, may name no file at all
        return ""


def _whole(result: Result) -> Located:
    """The run itself, if no single failure blocks it."""
    newest = result.failure_history.entries[-1] if result.failure_history.entries else None
    rule = _rule(newest.kind, newest.detail) if newest else _rule(result.outcome, result.reason)
    return Located(True, "", "", result.sentence, "", None, rule)


def _rule(kind: str, detail: str) -> str:
    return f"{kind}/{detail}" if detail and detail != kind else kind


def _file_of(test: str) -> str:
    """The file in a test's id; a check's name may be before it."""
    path = test.partition("::")[0].rpartition(": ")[2]
    return path if "::" in test and _is_inside(path) else ""


def _is_inside(path: str) -> bool:
    return bool(path) and not Path(path).is_absolute() and ".." not in Path(path).parts and path[0] not in "~…<"
