"""Comment probe: the words of a comment must not make a linter, type checker or build green."""

from collections.abc import Mapping
from typing import Final

from kotef.checks.probe import ProbeResult, not_probed
from kotef.classification import normalise
from kotef.files import matches_globs
from kotef.integrity import Reworded, reworded
from kotef.nodes.confirm_green import Judged
from kotef.nodes.probe_bench import Bench, ProbeUnit

_LARGEST: Final = 256 * 1024
"""Largest file, in bytes, whose comments are read."""
_SHOWN: Final = 3


def new_comments(bench: Bench, judged: Judged) -> dict[str, Reworded]:
    """Changed product files by path, with the words of their new comments replaced."""
    known = bench.context.snapshots.paths(bench.before)
    found: dict[str, Reworded] = {}
    for path in judged.changed:
        now = None if matches_globs(path, judged.task.allow_edits) else bench.read(path)
        before = bench.context.snapshots.read(bench.before, path) if path in known else None
        changed = reworded(path, before, now, bench.rng) if now and len(now) <= _LARGEST else None
        if changed is not None:
            found[path] = changed
    return found


async def comment_probe(unit: ProbeUnit, bench: Bench, judged: Judged, comments: Mapping[str, Reworded]) -> ProbeResult:
    """With other words in the new comments, what the check said before the run must not come back."""
    with bench.with_contents({path: each.content for path, each in comments.items()}):
        result = await bench.run(unit, "comments")
    name = unit.check.name
    if result.passed:
        return ProbeResult(name="comments", check=name, value="fine", told="green whatever the new comments say")
    was = next((check.summary for check in judged.baseline.checks if check.name == name), "")
    output_lines = {normalise(line) for line in f"{result.summary}\n{result.stdout}\n{result.stderr}".splitlines()}
    back = [line for line in was.splitlines() if normalise(line) in output_lines]
    if not back:
        return not_probed("comments", name, "new comments are needed, and what was wrong before the run is gone")
    evidence = [line for each in comments.values() for line in each.evidence]
    sentence = f"green only because a comment instructs the check: {evidence[0]}"
    return ProbeResult(
        name="comments", check=name, value="alarm", told=sentence, evidence=(back[0], *evidence[1:_SHOWN])
    )
