"""Probe for names: what the tests take from their language or system must mean what it meant before the run."""

import ctypes
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from kotef.checks.probe import ProbeName, ProbeResult
from kotef.integrity import RedefinedName, file_of_test, is_test_code, may_test, redefined_names
from kotef.nodes.confirm_green import Judged
from kotef.nodes.probe_bench import Bench, ProbeUnit, status_in
from kotef.shell import judging_files

_NAME: Final[ProbeName] = "names"
_MOST: Final = 400
"""Test files that are read where a check lists no tests."""
_SHOWN: Final = 3
_HEADERS: Final = (".h", ".hpp", ".hh")


async def redefined_names_probe(unit: ProbeUnit, bench: Bench, judged: Judged) -> ProbeResult | None:
    """The alarm where the change redefines a word of the tests that it did not define before; None if it does not.

    Only tests count that failed before: in one that could not be loaded, a word may have had no meaning at all.
    """
    known = bench.context.snapshots.paths(bench.before)
    snapshots = bench.context.snapshots
    changes = {
        path: ((snapshots.read(bench.before, path) or b"") if path in known else b"", bench.read(path) or b"")
        for path in judged.changed
        if path in bench.paths() and not is_test_code(path)
    }
    declared = _declared(bench, judged)
    for test in _tests(unit, bench, judged):
        content = bench.read(test) or b""
        found = [
            *redefined_names(test, content, changes, is_of_system=lambda name: _is_of_system(name, declared)),
            *_programs(content, changes, known, bench.context.root),
        ]
        if found:
            return _alarm(unit, test, found)
    return None


def _alarm(unit: ProbeUnit, test: str, found: list[RedefinedName]) -> ProbeResult:
    first = found[0]
    return ProbeResult(
        name=_NAME,
        check=unit.check.name,
        value="alarm",
        told=f"the change redefines `{first.name}`, which the tests use",
        evidence=(*(f"{each.path}:{each.line}: `{each.text[:120]}`" for each in found[:_SHOWN]), f"used in {test}"),
    )


def _tests(unit: ProbeUnit, bench: Bench, judged: Judged) -> Iterator[str]:
    """Unchanged files of targets that failed before; where none are listed, all unchanged files that may test."""
    if unit.targets:
        failed = [
            target
            for target in unit.targets
            if any(status_in(result, target) == "failed" for result in bench.without_change)
        ]
        files = {file_of_test(target, bench.paths(), bench.read) for target in failed}
    else:
        files = {*judging_files(unit.check.command), *sorted(filter(may_test, bench.paths()))[:_MOST]}
    yield from sorted(path for path in files if path and path in bench.paths() and path not in judged.changed)


def _declared(bench: Bench, judged: Judged) -> str:
    """Headers of the workspace from before the run: what they declare is meant by a test that uses it."""
    known = bench.context.snapshots.paths(bench.before)
    headers = [path for path in sorted(known) if path.endswith(_HEADERS)][:_MOST]
    if not any(path.endswith((*_HEADERS, ".c", ".cc", ".cpp", ".cxx")) for path in judged.changed):
        return ""
    return "\n".join(
        (bench.context.snapshots.read(bench.before, path) or b"").decode(errors="replace") for path in headers
    )


def _is_of_system(name: str, declared: str) -> bool:
    """Whether a function is the C library's, and no header of the workspace declares it."""
    is_declared = re.search(rf"(?<!\w){re.escape(name)}\s*\(", declared) is not None
    return not is_declared and hasattr(ctypes.CDLL(None), name)


def _programs(
    content: bytes, changes: Mapping[str, tuple[bytes, bytes]], known: frozenset[str], root: Path
) -> Iterator[RedefinedName]:
    """New programs with the name of one on the `PATH` that the test calls, where the change sets another `PATH`."""
    sets_path = any(after.count(b"PATH") > before.count(b"PATH") for before, after in changes.values())
    for path in changes if sets_path else ():
        name = path.rpartition("/")[2]
        is_called = re.search(rb"[\"'`]" + re.escape(name.encode()) + rb"[\"'`\s]", content) is not None
        is_new = path not in known and os.access(root / path, os.X_OK)
        if is_called and is_new and shutil.which(name):
            yield RedefinedName(name, path, 1, "a new program")
