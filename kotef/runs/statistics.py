"""Statistics over the runs of a workspace: how they end, and what goes wrong on the way."""

import calendar
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from kotef.errors import UsageError
from kotef.events import (
    CoderFinishedEvent,
    CompactedEvent,
    EmptyAnswerEvent,
    ModelAnswerEvent,
    ModelFallbackEvent,
    ModelRetryEvent,
    NudgeEvent,
    PlanFallbackEvent,
    ReviewedEvent,
    RunEvent,
    ToolFinishedEvent,
    VerifiedEvent,
)
from kotef.runs.events import read_events
from kotef.runs.prune import DAY
from kotef.runs.result import Camel, Result
from kotef.runs.run_history import RunHistory
from kotef.runs.store import RunDir

UNKNOWN: Final = "unknown"
NO_MODEL: Final = "no model"
_STAMP: Final = re.compile(r"(\d{8}-\d{6})(?:-|$)")
_WELL: Final = frozenset({"finished", "exhausted"})
"""Reasons to end a coder's visit that are not failures."""


class ByTool(Camel):
    """Failed calls of one tool, of one category."""

    tool: str
    category: str
    """`unknown` in runs of an earlier kotef."""
    before_compaction: int
    after_compaction: int
    """Failures after the conversation of the visit was compacted."""


class ByModel(Camel):
    """Figures of one model."""

    model: str
    runs: int
    verified: int
    failures: dict[str, int]
    """Failed checks of attempts, by kind and detail."""
    tool_failures: int
    calls: int
    tokens: int
    cost: float


class Spending(Camel):
    """Usage of all finished runs."""

    tokens_in: int
    tokens_out: int
    tokens_cached: int
    cost: float
    """Cost of the runs whose models have a price."""
    unpriced: int
    """Runs whose cost is not known."""
    calls: int
    seconds: float


class Statistics(Camel):
    """The data of `kotef stats`."""

    schema_version: int = 1
    runs: int
    outcomes: dict[str, int]
    """How the runs ended; `unfinished` has no result."""
    attempts_to_green: dict[int, int]
    """At which attempt → how many runs were verified."""
    failures: dict[str, int]
    """Failed checks of attempts, by `kind/detail`; those of baselines do not count."""
    nodes: dict[str, dict[str, int]]
    """What went wrong in the planner, the coder, the verifier and the model, by its machine word."""
    models: tuple[ByModel, ...]
    tools: tuple[ByTool, ...]
    compactions: int
    spent: Spending
    unreadable: dict[str, str]
    """Run → why it cannot be read; it is in no other figure."""


@dataclass(slots=True)
class _Model:
    runs: int = 0
    verified: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    tool_failures: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0


@dataclass(slots=True)
class _Tally:
    """The sums so far."""

    runs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    greens: Counter[int] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    nodes: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    models: defaultdict[str, _Model] = field(default_factory=lambda: defaultdict(_Model))
    tools: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    compactions: int = 0
    ended: list[Result] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)

    def take(self, run: RunDir) -> None:
        """One run."""
        try:
            result = run.result()
            history = RunHistory.of(read_events(run.events))
        except (UsageError, OSError) as error:
            self.unreadable[run.run_id] = str(error)
            return
        if result is None and not history.recorded:
            self.unreadable[run.run_id] = "it has neither a result nor events"
            return
        self.runs += 1
        self.outcomes[result.outcome if result else "unfinished"] += 1
        model = self.models[_model_of(result, history)]
        model.runs += 1
        if result is not None:
            self._take_result(result, model)
        self._take_events(history, model)

    def _take_result(self, result: Result, model: _Model) -> None:
        self.ended.append(result)
        if result.done:
            model.verified += 1
            if result.visits:
                self.greens[result.failure_history.attempts + 1] += 1
        for entry in result.failure_history.entries:
            if entry.visit:
                what = f"{entry.kind}/{entry.detail}" if entry.detail else entry.kind
                self.failures[what] += 1
                model.failures[what] += 1

    def _take_events(self, history: RunHistory, model: _Model) -> None:
        compacted: set[int] = set()
        for recorded in history.recorded:
            visit = recorded.visit or 0
            match recorded.event:
                case CompactedEvent():
                    compacted.add(visit)
                    self.compactions += 1
                case ToolFinishedEvent() as call if not call.ok:
                    self.tools[call.tool or UNKNOWN, call.category or UNKNOWN, visit in compacted] += 1
                    model.tool_failures += 1
                case ModelAnswerEvent() as answer:
                    answering = self.models[answer.model] if answer.model else model
                    answering.calls += 1
                    answering.tokens += answer.tokens_in + answer.tokens_out
                    answering.cost += answer.cost
                case event:
                    for node, what in _wrong(event):
                        self.nodes[node][what] += 1


def statistics(runs: Iterable[RunDir], *, since_days: float | None = None) -> Statistics:
    """The sums over these runs, or over those of the last days; from their results and events alone."""
    tally = _Tally()
    for run in runs:
        if since_days is None or _age(run) <= since_days * DAY:
            tally.take(run)
    ended = [result.usage for result in tally.ended]
    return Statistics(
        runs=tally.runs,
        outcomes=_most_first(tally.outcomes),
        attempts_to_green=dict(sorted(tally.greens.items())),
        failures=_most_first(tally.failures),
        nodes={node: _most_first(tally.nodes[node]) for node in sorted(tally.nodes)},
        models=tuple(
            ByModel(
                model=name,
                runs=model.runs,
                verified=model.verified,
                failures=_most_first(model.failures),
                tool_failures=model.tool_failures,
                calls=model.calls,
                tokens=model.tokens,
                cost=round(model.cost, 6),
            )
            for name, model in sorted(tally.models.items(), key=lambda item: (-item[1].runs, item[0]))
        ),
        tools=tuple(_tools(tally.tools)),
        compactions=tally.compactions,
        spent=Spending(
            tokens_in=sum(usage.tokens_in for usage in ended),
            tokens_out=sum(usage.tokens_out for usage in ended),
            tokens_cached=sum(usage.tokens_cached for usage in ended),
            cost=round(sum(usage.cost or 0.0 for usage in ended), 6),
            unpriced=sum(usage.cost is None for usage in ended),
            calls=sum(usage.calls for usage in ended),
            seconds=round(sum(usage.seconds for usage in ended), 3),
        ),
        unreadable=tally.unreadable,
    )


def _wrong(event: RunEvent) -> Iterator[tuple[str, str]]:
    """The failure that an event reports, and its node."""
    match event:
        case PlanFallbackEvent():
            yield "planner", "no_readable_plan"
        case NudgeEvent():
            yield "planner", "no_progress"
        case ReviewedEvent() if not event.accepted:
            yield "planner", "review_refused"
        case CoderFinishedEvent() if event.stopped_by not in _WELL:
            yield "coder", event.stopped_by or UNKNOWN
        case EmptyAnswerEvent():
            yield "coder", "empty_answer"
        case VerifiedEvent() if event.visit and not event.passed:
            yield "verifier", event.detail or UNKNOWN
        case ModelRetryEvent():
            yield "model", (event.why or UNKNOWN).partition(":")[0]
        case ModelFallbackEvent():
            yield "model", "fallback"


def _tools(failed: Mapping[tuple[str, str, bool], int]) -> Iterator[ByTool]:
    names = {(tool, category) for tool, category, _ in failed}
    counts = {name: (failed.get((*name, False), 0), failed.get((*name, True), 0)) for name in names}
    for (tool, category), (before, after) in sorted(counts.items(), key=lambda item: (-sum(item[1]), item[0])):
        yield ByTool(tool=tool, category=category, before_compaction=before, after_compaction=after)


def _model_of(result: Result | None, history: RunHistory) -> str:
    return (result.model if result is not None else history.model) or NO_MODEL


def _age(run: RunDir) -> float:
    """Seconds since the run began, by its id; endless where that reports no time."""
    found = _STAMP.match(run.run_id)
    try:
        begun = time.strptime(f"{found[1]} UTC", "%Y%m%d-%H%M%S %Z") if found else None
    except ValueError:
        begun = None
    return time.time() - calendar.timegm(begun) if begun else float("inf")


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
