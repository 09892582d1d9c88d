"""Is green still green when nothing that the run added can speak for the tests it is judged by?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kotef.checks.protected import is_configuration, is_shared, is_test_code, matches
from kotef.checks.speaking import Finding, speaks_to_the_judge
from kotef.checks.steering import steering_files
from kotef.checks.tables import put_tables_back
from kotef.checks.verdict import Results, Verification, judge
from kotef.deps import Deps
from kotef.failures.history import MAX_SUMMARY
from kotef.nodes.guarding import guard_of
from kotef.nodes.putting_back import keep_patch
from kotef.nodes.standing_in import standing_in
from kotef.state import Task

SPEAKS: Final = "speaks_to_the_judge"
STEERS: Final = "steers_the_judge"
ASIDE: Final = "set aside while the older tests were judged"

_LARGEST: Final = 1024 * 1024
"""Bytes of a file that is read for what it does."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a verdict was taken on."""

    task: Task
    baseline: Verification
    results: Results
    before: str
    """The tree before the run."""
    tree: str
    """The tree that was judged."""
    changed: Sequence[str]
    """Paths that differ between the two, but for what the checks wrote."""


async def confirm(verification: Verification, judged: Judged, deps: Deps) -> Verification:
    """The verification, or the reason why it is not believed.

    Not green are: code of the product that speaks to the judge; files that judge and were changed while they judged;
    and a green that is gone once the new files that steer the judge are set aside (the checks that had tests before the
    run are run once more without them, and only what the baseline had is compared).
    """
    findings = [str(finding) for finding in _findings(judged, deps)]
    meddled = _meddled(verification.visit, judged, deps)
    findings += [f"{path} was changed while it judged" for path in meddled]
    verification = verification.model_copy(update={"put_back": (*verification.put_back, *meddled)})
    if findings:
        return _refused(verification, SPEAKS, findings, [verification.summary])
    if not verification.passed:
        return verification
    aside, texts = _steering(judged, deps)
    if not aside and not texts:
        return verification
    told = tuple(f"{path} ({ASIDE})" for path in (*aside, *texts))
    deps.emit("setting_aside", visit=verification.visit, paths=[*aside, *texts])
    with standing_in(deps, tree=judged.tree, other=judged.before, paths=aside, texts=texts):
        results = await _without(verification.visit, judged, deps)
    alone = judge(
        judged.baseline,
        results,
        visit=verification.visit,
        tree=judged.tree,
        changed=judged.changed,
        needs_proof=False,
        allow=judged.task.allow_edits,
    )
    put_back = (*verification.put_back, *told)
    if alone.passed:
        return verification.model_copy(update={"put_back": put_back})
    named = ", ".join((*aside, *texts)[:3])
    why = f"green only with new files that steer the judge: {named}; without them:"
    kept = {"put_back": put_back, "left": verification.left, "new_tests": verification.new_tests}
    return _refused(alone.model_copy(update=kept), STEERS, [why], alone.summary.splitlines())


def _refused(verification: Verification, detail: str, reasons: Sequence[str], rest: Sequence[str]) -> Verification:
    """The verification as red, its reasons first."""
    lines = [line for line in (*reasons[:2], *rest) if line][:3]
    each = MAX_SUMMARY // len(lines) - 1
    summary = "\n".join(line if len(line) <= each else f"{line[: each - 1]}…" for line in lines)
    nothing_gained = {"fixed": (), "proved": ()}  # or the run would leave this behind as its best visit
    return verification.model_copy(update={"passed": False, "detail": detail, "summary": summary, **nothing_gained})


def _findings(judged: Judged, deps: Deps) -> tuple[Finding, ...]:
    """What the run added to Python files that are neither tests nor opened by a person."""
    product = [
        path
        for path in judged.changed
        if path.endswith(".py")
        and not is_test_code(path)
        and not is_configuration(path)
        and not matches(path, judged.task.allow_edits)
    ]
    now = {path: text for path in product if (text := _text(deps.root / path)) is not None}
    if not speaks_to_the_judge({}, now):
        return ()
    before = {
        path: old.decode("utf-8", "replace") for path in product if (old := deps.snapshots.read(judged.before, path))
    }
    return speaks_to_the_judge(before, now)


def _text(path: Path) -> str | None:
    """The file as text; None when it is gone, or no file."""
    try:
        return None if path.is_symlink() else path.read_bytes()[:_LARGEST].decode("utf-8", "replace")
    except OSError:
        return None


def _meddled(visit: int, judged: Judged, deps: Deps) -> tuple[str, ...]:
    """Files that judge and are not as they were when the checks began; put back, and what was there is kept."""
    after = deps.snapshots.take()
    if after == judged.tree:
        return ()
    guard = guard_of(judged.task, judged.before, deps.snapshots)
    wrote = set(judged.baseline.wrote)
    held = deps.snapshots.paths(judged.tree)
    changed = [
        path
        for path in deps.snapshots.changed(judged.tree, after)
        if path not in wrote and (path in guard.protected or (path not in held and is_configuration(path)))
    ]
    if not changed:
        return ()
    restored = deps.snapshots.restore(judged.tree, last=after, paths=changed)
    keep_patch(deps, after, visit)
    return restored.put_back


def _steering(judged: Judged, deps: Deps) -> tuple[tuple[str, ...], Mapping[str, bytes]]:
    """New files to set aside, and new shared files with what they are without their judging tables."""
    baseline = deps.snapshots.paths(judged.before)
    new = [path for path in judged.changed if path not in baseline and not matches(path, judged.task.allow_edits)]
    files = [(path, _text(deps.root / path) or "") for path in new]
    commands = [check.command for check in judged.task.checks]
    aside = steering_files(files, baseline=baseline, commands=commands, allow=judged.task.allow_edits)
    texts = {
        path: spliced.content
        for path in new
        if is_shared(path)
        and path not in aside
        and (spliced := put_tables_back(path, None, deps.snapshots.read(judged.tree, path) or b""))
    }
    return aside, texts


async def _without(visit: int, judged: Judged, deps: Deps) -> Results:
    """The checks once more; one that could not begin before the run says nothing about what there was, and stands."""
    had = {
        check.name
        for check in judged.baseline.checks
        if check.passed or check.executed or check.red or check.kind != "tooling_error"
    }
    return [
        (check, await deps.run_check(check, f"visit-{visit}-{check.name}-alone") if check.name in had else result)
        for check, result in judged.results
    ]
