"""Comparison of a replayed run with the recorded one."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from kotef.checks.verification import Verification
from kotef.context.prompts import Prompts
from kotef.deps import Models
from kotef.errors import UsageError
from kotef.extensions import ExtensionSet
from kotef.failures.plural import counted
from kotef.replay.player import Player
from kotef.replay.record_types import RECORD_NAME, VERSION, Begun, Entry, read_record
from kotef.replay.workspace_copy import copy_of, place_for
from kotef.runs.available_tools import available
from kotef.runs.config import UserConfig, prompt_overrides
from kotef.runs.events import Watcher
from kotef.runs.extension_setup import extensions_of
from kotef.runs.external_agents import AgentGrant, Hired, commands_in
from kotef.runs.repository import Settings
from kotef.runs.result import Camel, Result
from kotef.runs.run_config import RunConfig
from kotef.runs.run_settings import run_settings
from kotef.runs.sandbox_setup import Confined
from kotef.runs.start import start
from kotef.runs.store import RunDir, at
from kotef.sandbox import OFF
from kotef.state import Task
from kotef.tools.toolset import Kit

SAME: Final = 0
OTHER: Final = 3

_NARROW: Final = {
    "trust": False,
    "passed": (),
    "web": False,
    "branch": "",
    "reads": (),
    "network": False,
    "extensions": (),
}
"""Options that a record of unknown origin may not set."""
_FROM_OUTSIDE: Final = frozenset({"interrupted", "crashed"})
"""Outcomes that no record can bring about again."""


class RunEnding(Camel):
    """How a run ended, and what it came by on the way."""

    outcome: str
    """`killed` where it has no result."""
    reason: str
    attempts: int
    failures: tuple[str, ...]
    """Each failed check as `visit: check: fingerprint`."""
    trees: tuple[str, ...]
    """Each tree that was judged as `visit: id`."""


class Differing(Camel):
    """One thing that was not as recorded."""

    visit: int
    what: str


class Replayed(Camel):
    """The result of `kotef replay`."""

    schema_version: int = 1
    run_id: str
    same: bool
    exit_code: int
    then: RunEnding
    now: RunEnding
    ended_from_outside: bool
    """A person or the system ended the run, which no record can: it is compared up to there."""
    differences: tuple[str, ...]
    """Differences between `then` and `now`, one line each."""
    divergences: tuple[Differing, ...]
    """Requests that are not as recorded, and calls that never were; the first explains the others."""
    notices: tuple[str, ...]
    into: str | None
    """The copy that was worked in; null if it is gone again."""


def replay(
    root: Path, run: RunDir, config: UserConfig, *, into: Path | None, watchers: tuple[Watcher, ...]
) -> Replayed:
    """Play a run again in a copy of the workspace as it was before it; nothing is asked, and no command is run.

    UsageError if there is nothing to play: no record, no task, or no snapshot of the state before the run.
    """
    task, record, notices = _playable(run)
    if run.is_foreign:
        task = task.model_copy(update=_NARROW)
        notices = [*notices, f"{run.shown} is a record of unknown origin"]
    begun = next((line for line in record if isinstance(line, Begun)), None)
    tree = _state_before(run)
    with place_for(into) as place:
        copy = copy_of(root, tree, place)
        player = Player(record, place)
        if (stands := copy.take()) != tree:
            some = ", ".join(copy.changed(tree, stands)[:5])
            player.differs(0, f"the copy differs from the recorded workspace: {some}")
        overrides, _ = prompt_overrides(root, config, trust=task.trust)
        extensions = _extensions(root, config, task)
        notices = [*notices, *extensions.notices]
        again = at(place, run.run_id)
        played = RunConfig(
            again,
            task.model_copy(update={"setup": (), "mcp": ""}),
            place,
            lambda _: Models(),
            Prompts(overrides),
            watchers=watchers,
            kit=_kit(place, config, task, begun, extensions),
            extensions=extensions,
            confined=Confined(OFF),
            tape=player,
            hired=_hired(task),
        )
        result = start(played)
        return _compared(run, again, result, player, notices, into=place if into else None)


def _playable(run: RunDir) -> tuple[Task, list[Entry], list[str]]:
    task = run.task()
    try:
        record, unread = read_record(run.path / RECORD_NAME)
    except FileNotFoundError:
        record, unread = [], 0
    if task is None or not record:
        hint = "runs of earlier versions have none; new runs are recorded while they work"
        raise UsageError(f"run {run.run_id} has no record to replay", hint=hint)
    begun = [line for line in record if isinstance(line, Begun)]
    if not begun or begun[0].version != VERSION:
        hint = "replay it with the version that recorded it"
        raise UsageError(f"the record of run {run.run_id} has a version that this kotef cannot read", hint=hint)
    notices = []
    if unread:
        notices.append(f"{counted(unread, 'line')} of the record cannot be read")
    if len(begun) > 1:
        notices.append("the run was resumed; the replay runs it in one piece")
    if any(line.kind == "full" for line in record):
        notices.append("the record is incomplete: it reached its size limit")
    return task, record, notices


def _state_before(run: RunDir) -> str:
    """The tree of visit 0."""
    try:
        return str(json.loads((run.path / "visit-0.json").read_bytes())["tree"])
    except (OSError, ValueError, KeyError, TypeError):
        hint = "it ended before its baseline was judged"
        raise UsageError(f"run {run.run_id} kept no state before it", hint=hint) from None


def _hired(task: Task) -> Hired:
    """The programs of the chain by name alone; none of them is started."""
    return Hired({name: AgentGrant(command) for name, command in commands_in(task.coder).items()})


def _extensions(root: Path, config: UserConfig, task: Task) -> ExtensionSet:
    """Those that the run worked with, as far as they are active here."""
    if not task.extensions:
        return ExtensionSet()
    here = extensions_of(root, run_settings({}, config, Settings()).extensions)
    kept = tuple(each for each in here.loaded if each.record in task.extensions)
    active = [each.record for each in kept]
    absent = [each.title for each in task.extensions if each not in active]
    notices = (f"extensions that the run used are not active here: {', '.join(absent)}",) if absent else ()
    return ExtensionSet(kept, (*here.notices, *notices))


def _kit(place: Path, config: UserConfig, task: Task, begun: Begun | None, extensions: ExtensionSet) -> Kit:
    """The tools of the run; its notes and skills are the current ones."""
    kit, _ = available(place, config, model=task.model, environment={}, extensions=extensions)
    if begun is None:
        return kit
    return Kit(begun.tier, begun.patches, begun.window, kit.memory, kit.skills, kit.more, kit.rules)


def _compared(
    run: RunDir,
    again: RunDir,
    result: Result,
    player: Player,
    notices: Sequence[str],
    *,
    into: Path | None,
) -> Replayed:
    before = run.result()
    (judged, unread), (anew, _) = _judged(run), _judged(again)
    then, now = _ended(before, judged), _ended(result, {at: one for at, one in anew.items() if at not in unread})
    outside = before is None or before.outcome in _FROM_OUTSIDE
    if outside:
        now = _up_to(then, now)
    differences = tuple(_differences(then, now, endings=not outside))
    same = not differences and (player.over is None or outside)
    return Replayed(
        run_id=run.run_id,
        same=same,
        exit_code=SAME if same else OTHER,
        then=then,
        now=now,
        ended_from_outside=outside,
        differences=differences,
        divergences=tuple(Differing(visit=one.visit, what=one.what) for one in player.divergences),
        notices=(
            *notices,
            *(f"the verdict on visit {at} cannot be read; it is not compared" for at in sorted(unread)),
        ),
        into=str(into) if into else None,
    )


def _judged(run: RunDir) -> tuple[dict[int, Verification], frozenset[int]]:
    """The verdict of each visit, in order, and the visits whose verdict cannot be read."""
    found, unread = dict[int, Verification](), set[int]()
    for path in run.path.glob("visit-*.json"):
        number = path.stem.removeprefix("visit-")
        if number.isdigit():
            try:
                found[int(number)] = Verification.model_validate_json(path.read_bytes())
            except (OSError, ValidationError):
                unread.add(int(number))
    return dict(sorted(found.items())), frozenset(unread)


def _ended(result: Result | None, judged: Mapping[int, Verification]) -> RunEnding:
    red = [
        f"{visit}: {check.name}: {check.fingerprint}"
        for visit, verification in judged.items()
        for check in verification.checks
        if not check.passed
    ]
    failed = sum(not verification.passed for visit, verification in judged.items() if visit)
    return RunEnding(
        outcome=result.outcome if result else "killed",
        reason=result.reason if result else "",
        attempts=result.failure_history.attempts if result else failed,
        failures=tuple(red),
        trees=tuple(f"{visit}: {verification.tree}" for visit, verification in judged.items()),
    )


def _up_to(then: RunEnding, now: RunEnding) -> RunEnding:
    """The part of the replay up to the point that the run reached."""
    return now.model_copy(
        update={
            "failures": now.failures[: len(then.failures)],
            "trees": now.trees[: len(then.trees)],
            "attempts": min(then.attempts, now.attempts),
        }
    )


_What = Literal["outcome", "reason", "attempts"]


def _differences(then: RunEnding, now: RunEnding, *, endings: bool) -> Sequence[str]:
    names: tuple[_What, ...] = ("outcome", "reason", "attempts") if endings else ("attempts",)
    lines = [
        f"{name}: {getattr(then, name)} → {getattr(now, name)}"
        for name in names
        if getattr(then, name) != getattr(now, name)
    ]
    for name, was, found in (("failure", then.failures, now.failures), ("tree", then.trees, now.trees)):
        lines += [f"{name} of visit {line}, only in the record" for line in was if line not in found]
        lines += [f"{name} of visit {line}, only in the replay" for line in found if line not in was]
    return lines
