"""Confirmation of a green result without the new files that could influence its tests."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kotef.checks.failure_entries import ASIDE
from kotef.checks.verdict import Results, Verification, judge
from kotef.checks.verification import fitted
from kotef.deps import RunContext
from kotef.files import matches_globs, read_within
from kotef.integrity import (
    INLINE_SUFFIXES,
    JAVASCRIPT_SUFFIXES,
    TAMPERING_SUFFIXES,
    TamperingFinding,
    changed_inline_tests,
    is_configuration,
    is_shared,
    is_test_code,
    put_tables_back,
    replaces_installed,
    required_files,
    shadowing_files,
    speaks_to_the_judge,
    steering_files,
    top_imports,
)
from kotef.nodes.edit_guard import guard_of
from kotef.nodes.file_swap import standing_in
from kotef.nodes.restore_protected_files import keep_patch
from kotef.nodes.untracked_files import UntrackedBefore, take_away
from kotef.shell import judging_files
from kotef.state import Task
from kotef.workspace import IMPORTED_SUFFIXES, steering_from_outside

SPEAKS: Final = "speaks_to_the_judge"
STEERS: Final = "steers_the_judge"

_NEW: Final = "new files that steer the judge"
_UNHELD: Final = "files that no snapshot contains"
_LARGEST: Final = 1024 * 1024
"""Largest file, in bytes, that is read."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The trees and files that a verdict is about."""

    task: Task
    baseline: Verification
    results: Results
    before: str
    """The tree before the run."""
    tree: str
    """The tree that was judged."""
    changed: Sequence[str]
    """Paths that differ between the two trees, except those the checks wrote."""
    unheld: UntrackedBefore
    """Files that neither tree contains."""


async def confirm(verification: Verification, judged: Judged, context: RunContext) -> Verification:
    """The verification, or the reason why it is not believed; with doubts that probes have to answer, if they are on.

    Not green are: code of the product that speaks to the judge; files that judge and were changed while they judged, or
    that steer from outside; and a green that is gone once the new files that steer the judge, and the code that no
    snapshot holds, are as they were before the run (the checks that had tests then are run again, and only what the
    baseline had is compared).
    """
    findings = _findings(judged, context)
    if judged.task.limits.probes != "off" and verification.passed:
        doubts = tuple(str(finding) for finding in findings if finding.shown_by_probes)
        findings = tuple(finding for finding in findings if not finding.shown_by_probes)
        verification = verification.model_copy(update={"doubts": doubts})
    meddled = _meddled(verification.visit, judged, context)
    suspects, known = judged.unheld.suspects, judged.unheld.known
    reasons = [str(finding) for finding in findings] + [f"{path} was changed while the checks ran" for path in meddled]
    if known is not None:
        outside = steering_from_outside(context.root, os.environ, known.since)
        reasons += [
            f"{path} steers the checks from outside the workspace and is newer than the run" for path in outside
        ]
    verification = verification.model_copy(update={"put_back": (*verification.put_back, *meddled)})
    if reasons:
        spoke = {finding.path for finding in findings}
        taken = take_away({path: old for path, old in suspects.items() if path in spoke}, known, context)
        verification = verification.model_copy(update={"put_back": (*verification.put_back, *taken)})
        return refused(verification, SPEAKS, reasons, [verification.summary])
    if not verification.passed:
        return _with_steering(verification, judged, context)
    aside, texts = _steering(judged, context)
    named = (*aside, *texts, *suspects)
    if not named:
        return verification
    aside_entries = tuple(f"{path} {ASIDE}" for path in named)
    context.emit("setting_aside", visit=verification.visit, paths=list(named))
    with standing_in(context, tree=judged.tree, other=judged.before, paths=aside, texts=texts, unheld=suspects):
        results = await _without(verification.visit, judged, context)
    alone = judge(
        judged.baseline,
        results,
        visit=verification.visit,
        tree=judged.tree,
        changed=judged.changed,
        needs_proof=False,
        allow=judged.task.allow_edits,
    )
    put_back = (*verification.put_back, *aside_entries)
    if alone.passed:
        return verification.model_copy(update={"put_back": put_back})
    if judged.task.limits.probes != "off" and not (texts or suspects) and _only_shadow(aside, judged, context):
        doubts = tuple(f"{path} may be imported instead of another module with its name" for path in aside)
        return verification.model_copy(update={"put_back": put_back, "doubts": (*verification.doubts, *doubts)})
    what = _UNHELD if suspects else _NEW
    why = f"green only with {what}: {', '.join((*suspects, *aside, *texts)[:3])}; without them:"
    taken = take_away(suspects, known, context)
    kept = {"put_back": (*put_back, *taken), "left": verification.left, "new_tests": verification.new_tests}
    return refused(alone.model_copy(update=kept), STEERS, [why], alone.summary.splitlines())


def _with_steering(verification: Verification, judged: Judged, context: RunContext) -> Verification:
    """The red verification with the new files that the checks read and that may be why it is red.

    What a script of the checks sources or includes can end it anywhere, so it is always named. Other files that steer
    the judge (a configuration, a module in the place of another) are named where tests of the baseline are gone.
    """
    aside, texts = _steering(judged, context)
    new, unheld = [*aside, *texts], list(judged.unheld.suspects)
    if not verification.missing:
        known = judged.unheld.known
        awaited = sorted(known.awaited) if known else ()
        new, unheld = ([path for path in paths if matches_globs(path, awaited)] for paths in (new, unheld))
    lines = [f"{what}: {', '.join(paths[:3])}" for what, paths in ((_NEW, new), (_UNHELD, unheld)) if paths]
    if not lines:
        return verification
    first, *rest = verification.summary.splitlines()
    steering = "; ".join(lines)
    return verification.model_copy(update={"steering": steering, "summary": fitted([first, steering, *rest])})


def refused(verification: Verification, detail: str, reasons: Sequence[str], rest: Sequence[str]) -> Verification:
    """The verification turned red, with these reasons first."""
    summary = fitted([*reasons[:2], *rest])
    nothing_gained = {
        "fixed": (),
        "proved": (),
        "unproved": None,
    }  # or the run would leave this behind as its best visit
    return verification.model_copy(update={"passed": False, "detail": detail, "summary": summary, **nothing_gained})


def _findings(judged: Judged, context: RunContext) -> tuple[TamperingFinding, ...]:
    """Findings in code that the run added, in snapshots or not, except tests and files that a person opened."""
    allow, suspects = judged.task.allow_edits, judged.unheld.suspects
    product = [path for path in judged.changed if not is_test_code(path) and not is_configuration(path)]
    read = [
        path for path in (*product, *suspects) if path.endswith(TAMPERING_SUFFIXES) and not matches_globs(path, allow)
    ]
    now = {path: text for path in read if (text := _text(context.root, path)) is not None}
    now |= _loaded_unheld(now, judged, context)
    unread = [path for path in product if not matches_globs(path, allow) and (context.root / path).exists()]
    found = tuple(finding for path in unread for finding in _unreadable(path, judged, context))
    told_by_status = any(
        result.evidence in {"exit", "summary"} for check, result in judged.results if check.role in {"test", "other"}
    )
    found = (*_tests_inside(judged, context), *found)
    if not speaks_to_the_judge({}, now, told_by_status=told_by_status):
        return found
    old = {path: suspects[path] if path in suspects else context.snapshots.read(judged.before, path) for path in now}
    before = {path: content.decode("utf-8", "replace") for path, content in old.items() if content}
    return (*speaks_to_the_judge(before, now, told_by_status=told_by_status), *found)


def _loaded_unheld(now: Mapping[str, str], judged: Judged, context: RunContext) -> dict[str, str]:
    """JavaScript modules outside snapshots that changed files load and that the run added or changed."""
    known, held = judged.unheld.known, context.snapshots.paths(judged.tree)
    names = {
        path
        for start, text in now.items()
        if start.endswith(JAVASCRIPT_SUFFIXES)
        for path in required_files(start, text)
    }
    found = {}
    for path in sorted(names):
        inside = not path.startswith("../") and "node_modules/" not in path and path.endswith(JAVASCRIPT_SUFFIXES)
        if known is None or not inside or path in held or matches_globs(path, judged.task.allow_edits):
            continue
        with suppress(OSError):
            if (context.root / path).stat().st_ctime >= known.since and (text := _text(context.root, path)) is not None:
                found[path] = text
    return found


def _tests_inside(judged: Judged, context: RunContext) -> tuple[TamperingFinding, ...]:
    """Tests inside product files that the run changed or removed."""
    paths = [path for path in judged.changed if path.endswith(INLINE_SUFFIXES)]
    product = [path for path in paths if not is_test_code(path) and not is_configuration(path)]
    old = {
        path: context.snapshots.read(judged.before, path)
        for path in product
        if not matches_globs(path, judged.task.allow_edits)
    }
    before = {path: content.decode("utf-8", "replace") for path, content in old.items() if content}
    if not before:
        return ()
    commands = [check.command for check in judged.task.checks]
    asked_for = {path for command in commands for path in judging_files(command)}
    return changed_inline_tests(
        before,
        {path: text for path in paths if (text := _text(context.root, path)) is not None},
        runs_doctests=lambda: _runs_doctests(before, judged, context),
        collected=lambda path: path in asked_for or any(test.startswith(f"{path}::") for test in judged.baseline.tests),
    )


def _runs_doctests(product: Mapping[str, str], judged: Judged, context: RunContext) -> bool:
    """Whether a check, its scripts, a configuration, a test or the module itself contains the word doctest."""
    known = context.snapshots.paths(judged.before)
    protected = guard_of(judged.task, judged.before, context.snapshots, judged.baseline.test_files).protected
    texts = (_text(context.root, path) or "" for path in known if path in protected or is_shared(path))
    commands = (check.command for check in judged.task.checks)
    return any("doctest" in text for text in (*commands, *product.values(), *texts))


def _unreadable(path: str, judged: Judged, context: RunContext) -> Iterator[TamperingFinding]:
    """Changed files that cannot be read although Python may import them."""
    place = context.root / path
    if place.is_symlink():
        target = Path(os.path.realpath(place))
        inside = target.is_relative_to(context.root) and target.relative_to(context.root).as_posix()
        held = context.snapshots.paths(judged.tree)
        if not inside or not (inside in held or any(other.startswith(f"{inside}/") for other in held)):
            yield TamperingFinding(path, 1, "is a link to something that no snapshot contains")
    elif path.endswith(IMPORTED_SUFFIXES) and not path.endswith(".py"):
        yield TamperingFinding(path, 1, "is compiled code, which cannot be read")


def _text(root: Path, path: str) -> str | None:
    """The beginning of the file as text; None if it is gone or not a file."""
    try:
        return read_within(root, path, largest=_LARGEST, cut=True).decode("utf-8", "replace")
    except OSError:
        return None


def _meddled(visit: int, judged: Judged, context: RunContext) -> tuple[str, ...]:
    """Put back files that judge and changed while the checks ran; their content is kept. Returns their paths."""
    after = context.snapshots.take()
    if after == judged.tree:
        return ()
    guard = guard_of(judged.task, judged.before, context.snapshots, judged.baseline.test_files)
    wrote = set(judged.baseline.wrote)
    held = context.snapshots.paths(judged.tree)
    changed = [
        path
        for path in context.snapshots.changed(judged.tree, after)
        if path not in wrote and (path in guard.protected or (path not in held and is_configuration(path)))
    ]
    if not changed:
        return ()
    restored = context.snapshots.restore(judged.tree, last=after, paths=changed)
    keep_patch(context, after, visit)
    return restored.put_back


def _only_shadow(aside: Sequence[str], judged: Judged, context: RunContext) -> bool:
    """Whether new files may be imported instead of other modules, and do nothing else to the judge.

    A wrong answer shows whether they do harm, and a module of the product may have such a name.
    """
    baseline = context.snapshots.paths(judged.before)
    commands = [check.command for check in judged.task.checks]
    return set(aside) == set(shadowing_files(aside, baseline=baseline, commands=commands))


def _steering(judged: Judged, context: RunContext) -> tuple[tuple[str, ...], Mapping[str, bytes]]:
    """New files to set aside, and new shared files without their judging tables."""
    baseline = context.snapshots.paths(judged.before)
    new = [path for path in judged.changed if path not in baseline and not matches_globs(path, judged.task.allow_edits)]
    files = [(path, _text(context.root, path) or "") for path in new]
    commands = [check.command for check in judged.task.checks]
    known = judged.unheld.known
    awaited = known.awaited if known else ()
    instead = replaces_installed(
        new,
        baseline={*baseline, *(known.files if known else ())},
        commands=commands,
        imported=lambda: _imported_by_tests(baseline, context),
        absent=judged.baseline.absent,
    )
    aside = steering_files(
        files,
        baseline=baseline,
        commands=commands,
        allow=judged.task.allow_edits,
        awaited=sorted({*awaited, *instead}),
        gone=frozenset(path for path in judged.changed if not (context.root / path).exists()),
    )
    texts = {
        path: spliced.content
        for path in new
        if is_shared(path)
        and path not in aside
        and (spliced := put_tables_back(path, None, context.snapshots.read(judged.tree, path) or b""))
    }
    return aside, texts


def _imported_by_tests(baseline: Collection[str], context: RunContext) -> frozenset[str]:
    tests = (path for path in baseline if is_test_code(path) and path.endswith(".py"))
    return frozenset().union(*(top_imports(_text(context.root, path) or "") for path in tests))


async def _without(visit: int, judged: Judged, context: RunContext) -> Results:
    """The checks once more; one that could not begin before the run says nothing about what there was, and stands."""
    had = {
        check.name
        for check in judged.baseline.checks
        if check.passed or check.executed or check.red or check.kind != "tooling_error"
    }
    return [
        (
            check,
            await context.executor.run_check(check, f"visit-{visit}-{check.name}-alone")
            if check.name in had
            else result,
        )
        for check, result in judged.results
    ]
