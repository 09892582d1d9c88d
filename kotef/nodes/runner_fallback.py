"""Fallback to unittest for tests whose pytest is missing."""

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from kotef.checks.verification import Verification
from kotef.workspace import Snapshots

_CASE: Final = re.compile(rb"^\s*class \w+\(.*TestCase\b.*\):", re.MULTILINE)
_OF_PYTEST: Final = re.compile(rb"^(?:import|from) pytest\b|^(?:async )?def test", re.MULTILINE)
_READ: Final = 200
"""Number of test files that are read."""


def other_runner(baseline: Verification, snapshots: Snapshots, *, not_started: Sequence[str] = ()) -> str:
    """The `--check` with which unittest runs the tests instead, as a hint; empty if pytest is not what is missing.

    `not_started` are commands that were found to lack pytest without being run. Only where every test file is
    unittest's: a function or a fixture of pytest would not be run, and no one would know.
    """
    if baseline.environment != "missing_runner":
        return ""
    commands = [*(check.command for check in baseline.checks if check.detail == "missing_runner"), *not_started]
    python = next((python for command in commands if (python := _python_of(command))), "")
    paths = [path for path in sorted(snapshots.paths(baseline.tree)) if _holds_tests(path)][:_READ]
    texts = [snapshots.read(baseline.tree, path) or b"" for path in paths]
    if not python or not any(map(_CASE.search, texts)) or any(map(_OF_PYTEST.search, texts)):
        return ""
    tops = {PurePosixPath(path).parent.as_posix() for path in paths}
    packaged = all(top == "." or f"{top}/__init__.py" in snapshots.paths(baseline.tree) for top in tops)
    found = "" if packaged else f" discover -s {shlex.quote(min(tops, key=len))}"
    return f"the tests use unittest and do not need pytest: --check {shlex.quote(f'{python} -m unittest{found}')}"


def _python_of(command: str) -> str:
    """The interpreter that should run pytest; empty if the command runs something else."""
    match = re.search(r"(?:^|\s)(\S*python[\d.]*) -m pytest\b", command)
    if match:
        return match[1]
    is_bare = re.match(r"(?:\S*/)?(?:pytest|py\.test)\b", command)
    return "python3" if is_bare else ""


def _holds_tests(path: str) -> bool:
    name = PurePosixPath(path).name
    return name.endswith(".py") and (name.startswith("test") or name.endswith("_test.py") or name == "conftest.py")
