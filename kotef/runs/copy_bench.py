"""A copy of the workspace on which `kotef check` probes the judge; the workspace itself is only read."""

import os
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kotef.checks.probe import ProbeResult
from kotef.checks.single_test_command import alone
from kotef.checks.types import Check, CommandResult
from kotef.checks.verdict import Results
from kotef.files import read_within, remove_within, write_within
from kotef.git import run_git
from kotef.integrity import file_of_test, is_protected
from kotef.nodes.life_probes import answer_probe, canary_probe
from kotef.nodes.probe_bench import OutOfTimeError, ProbeUnit, guarded
from kotef.workspace import LARGEST_FILE

CHANGED: Final = 5
"""Probed tests per check, from files that differ from the commit."""
OTHERS: Final = 3
"""Further probed tests per check, because changed files may affect them."""

EXECUTABLE_MODE: Final = 0o755

Run = Callable[[Check, str], Awaitable[CommandResult]]


@dataclass
class CopyBench:
    """A copy whose files are changed in place: it is thrown away afterwards."""

    copy: Path
    judge: Run
    rng: random.Random
    seconds: float
    """Seconds that all probes together may take."""
    known: frozenset[str]

    def affords(self) -> bool:
        """See `Workbench`."""
        return self.seconds > 0

    def alone(self, check: Check, targets: Sequence[str]) -> str | None:
        """See `Workbench`."""
        return alone(check.command, targets, exists=lambda path: (self.copy / path).exists())

    async def run(self, unit: ProbeUnit, what: str) -> CommandResult:
        """See `Workbench`."""
        if self.seconds <= 0:
            raise OutOfTimeError
        result = await self.judge(unit.check.model_copy(update={"command": unit.command}), what)
        self.seconds -= result.seconds
        return result

    @contextmanager
    def with_contents(self, texts: Mapping[str, bytes]) -> Iterator[None]:
        """See `Workbench`."""
        old = {path: self.read(path) for path in texts}
        for path, content in texts.items():
            write_within(self.copy, path, content)
        try:
            yield
        finally:
            for path, before in old.items():
                write_within(self.copy, path, before or b"")

    def read(self, path: str) -> bytes | None:
        """See `Workbench`."""
        with suppress(OSError):
            return read_within(self.copy, path, largest=LARGEST_FILE) if path in self.known else None
        return None

    def paths(self) -> frozenset[str]:
        """See `Workbench`."""
        return self.known


async def probe_checks(results: Results, bench: CopyBench, changed: Sequence[str]) -> list[ProbeResult]:
    """Try a wrong answer, or a test that must fail, for some tests of each passing check, up to the first alarm."""
    found: list[ProbeResult] = []
    for check, result in results:
        passed = [test for test, status in (result.tests or {}).items() if status == "passed"]
        if check.role != "test" or not result.passed or not passed:
            continue
        found.append(await _probe(check, passed, bench, changed))
        if found[-1].value == "alarm":
            break
    return found


async def _probe(check: Check, passed: Sequence[str], bench: CopyBench, changed: Sequence[str]) -> ProbeResult:
    near = [test for test in passed if file_of_test(test, bench.known, bench.read) in changed] if changed else []
    others = [test for test in passed if test not in near]
    chosen = [
        *bench.rng.sample(near, min(CHANGED, len(near))),
        *bench.rng.sample(others, min(OTHERS, len(others))),
    ]
    command = bench.alone(check, chosen)
    unit = ProbeUnit(check, tuple(chosen), command or check.command, is_part=command is not None)
    probe = await guarded("wrong answers", check.name, answer_probe(unit, bench, most=1))
    return probe if probe.value != "not_probed" else await guarded("canary", check.name, canary_probe(unit, bench))


def changed_since(root: Path, commit: str) -> list[str]:
    """Tracked paths that differ from the commit, and untracked paths, from the root."""
    tracked = run_git(["diff", "--name-only", "-z", "--relative", "--no-renames", commit, "--"], cwd=root)
    others = run_git(["ls-files", "-z", "--others", "--exclude-standard"], cwd=root)
    text = (tracked.stdout + others.stdout).decode("utf-8", "surrogateescape")
    return [path for path in text.split("\0") if path]


def files_of(root: Path) -> list[str]:
    """Files that git tracks or does not ignore, from the root."""
    listed = run_git(["ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root)
    return [path for path in listed.stdout.decode("utf-8", "surrogateescape").split("\0") if path]


def overlay(root: Path, copy: Path, paths: Sequence[str]) -> None:
    """Make these paths of a copy as in the workspace; files that are too large are left."""
    for path in paths:
        with suppress(OSError):
            if os.path.lexists(root / path):
                is_program = os.access(root / path, os.X_OK)
                content = read_within(root, path, largest=LARGEST_FILE)
                write_within(copy, path, content, mode=EXECUTABLE_MODE if is_program else None)
            else:
                remove_within(copy, path)


def judging(changed: Sequence[str]) -> list[str]:
    """The paths that judge, among these."""
    return [path for path in changed if is_protected(path)]
