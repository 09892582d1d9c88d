"""Control for the wrong-answer probes: targets that are green alone, also with a comment added to their test files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from kotef.checks.probe import ProbeResult
from kotef.errors import KotefError
from kotef.integrity import file_of_test, harmless_edit
from kotef.nodes.probe_bench import Bench, OutOfTimeError, ProbeUnit, status_in
from kotef.shell import judging_files

_SHOWN: Final = 3


async def control(unit: ProbeUnit, bench: Bench) -> tuple[ProbeUnit, ProbeResult | None]:
    """The unit, or the whole check where a target is red alone, and whether a harmless edit leaves it green.

    Both are one run, if all is well.
    """
    try:
        return await _control(unit, bench)
    except (OutOfTimeError, KotefError, OSError, ValueError, RecursionError):
        return unit.whole(), None


async def _control(unit: ProbeUnit, bench: Bench) -> tuple[ProbeUnit, ProbeResult | None]:
    texts = edited_files(unit, bench)
    if texts and not await _red(unit, bench, texts):
        sentence = "green with a harmless edit of the tests"
        return replace(unit, is_edited=True), ProbeResult(
            name="harmless edit", check=unit.check.name, value="fine", told=sentence
        )

    red = await _red(unit, bench, {}) if unit.is_part else ()  # the whole check was judged just now
    if texts and (lost := await _lost(unit, bench, texts, red)):
        return unit, edit_alarm(unit, lost, texts)
    if not red:
        return unit, None
    whole, found = await _control(unit.whole(), bench)
    return replace(whole, red_alone=tuple(red)), found


async def _lost(unit: ProbeUnit, bench: Bench, texts: Mapping[str, bytes], red: Sequence[str]) -> list[str]:
    """Targets that are red with the edit and green without it, each confirmed by a second run."""
    again = await _red(unit, bench, texts)
    suspects = [target for target in again if target not in red]
    if not suspects:
        return []
    without = await _red(unit, bench, {})
    return [target for target in suspects if target not in without]


async def _red(unit: ProbeUnit, bench: Bench, texts: Mapping[str, bytes]) -> tuple[str, ...]:
    """Targets that are not green with these contents; the check's name if it lists no tests."""
    with bench.with_contents(texts):
        result = await bench.run(unit, "control")
    if not unit.targets:
        return () if result.passed else (unit.check.name,)
    return tuple(target for target in unit.targets if status_in(result, target) != "passed")


def edited_files(unit: ProbeUnit, bench: Bench) -> dict[str, bytes]:
    """The files of the targets, or the scripts of the check, with a harmless edit."""
    tests: dict[str, list[str]] = {}
    for target in unit.targets or judging_files(unit.check.command):
        path = file_of_test(target, bench.paths(), bench.read)
        if path is not None:
            tests.setdefault(path, []).append(target)
    found: dict[str, bytes] = {}
    for path, inside in sorted(tests.items()):
        content = bench.read(path)
        edited = harmless_edit(path, content, inside, bench.rng) if content is not None else None
        if edited is not None:
            found[path] = edited
    return found


def edit_alarm(unit: ProbeUnit, lost: Sequence[str], texts: Mapping[str, bytes]) -> ProbeResult:
    """The alarm for targets that only a harmless edit of these files turns red."""
    named = ", ".join(lost[:_SHOWN])
    return ProbeResult(
        name="harmless edit",
        check=unit.check.name,
        value="alarm",
        told=f"green only while the test file is exactly as it was: {named}",
        evidence=(f"{', '.join(list(texts)[:_SHOWN])}: red with a comment, or expected values written otherwise",),
    )
