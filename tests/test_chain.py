"""A chain of coders: who is asked, in which order, and who plans."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.checks.verification import CheckVerdict, Verification
from kotef.coders.base import Brief, CoderResult
from kotef.coders.chain import Chain, parse_chain
from kotef.errors import UsageError
from kotef.sdd.spec import Spec
from kotef.settings import Limits
from kotef.state import CoderTrial, Edits, Plan, PlanStep, Task, Usage
from kotef.tools.guard import EditGuard

RED = CheckVerdict(
    name="t",
    command="pytest",
    role="test",
    required=True,
    exit_code=1,
    passed=False,
    satisfied=False,
    advisory=False,
    fingerprint="f",
)


@dataclass
class Dummy:
    """A coder that notes what it was asked."""

    name: str
    finds: bool = False
    cannot: str = ""
    uses_model: bool = False
    hints: tuple[str, ...] = ()
    seen: list[Brief] = field(default_factory=list)

    def declines(self, brief: Brief) -> str:
        return self.cannot

    async def work(self, brief: Brief) -> CoderResult:
        self.seen.append(brief)
        edits = Edits(visit=1, coder=self.name, stopped_by="finished", detail="" if self.finds else "found nothing")
        return CoderResult(edits, found=self.finds, hints=self.hints)


def brief(tried: frozenset[CoderTrial] = frozenset()) -> Brief:
    return Brief(
        task=Task(run_id="r", goal="g", spec=Spec(), checks=(), limits=Limits()),
        plan=Plan(visit=1, steps=(PlanStep(description="x"),), source="code"),
        failures=(),
        judged=Verification(visit=0, tree="t0", passed=False, checks=(RED,)),
        tree="t0",
        changed=(),
        guard=EditGuard(frozenset()),
        spent=Usage(),
        tried=tried,
    )


def play(*coders: Dummy, tried: frozenset[CoderTrial] = frozenset()) -> tuple[CoderResult, list[tuple[str, dict]]]:
    events: list[tuple[str, dict]] = []
    chain = Chain(coders, lambda event, /, **facts: events.append((event, facts)))
    return asyncio.run(chain.work(brief(tried))), events


def test_the_first_that_finds_something_ends_the_visit() -> None:
    one, two, three = Dummy("one", cannot="cannot"), Dummy("two", finds=True), Dummy("three", finds=True)
    work, events = play(one, two, three)
    assert (work.edits.coder, work.edits.asked) == ("two", ("two",))
    assert not three.seen
    assert [facts["why"] for event, facts in events if event == "declined"] == ["cannot"]


def test_what_a_coder_learnt_reaches_the_next() -> None:
    model = Dummy("model", finds=True, uses_model=True)
    play(Dummy("search", hints=("look at line 3",)), model)
    assert model.seen[0].hints == ("look at line 3",)


def test_when_nobody_can_the_reasons_are_told_together() -> None:
    work, _ = play(Dummy("fixers", cannot="no failing check"), Dummy("search"))
    assert not work.found
    assert work.edits.stopped_by == "exhausted"
    assert work.edits.detail == "fixers: no failing check; search: found nothing"


def test_nobody_is_asked_twice_about_the_same_failure_on_the_same_tree() -> None:
    search = Dummy("search")
    first, _ = play(search)
    again, _ = play(search, tried=first.tried)
    assert len(search.seen) == 1
    assert "already tried this failure" in again.edits.detail


def test_a_model_may_be_asked_again() -> None:
    model = Dummy("model", finds=True, uses_model=True)
    first, _ = play(model)
    play(model, tried=first.tried)
    assert len(model.seen) == 2


def test_a_model_plans_once_the_others_have_been_asked() -> None:
    chain = Chain((Dummy("search"), Dummy("model", uses_model=True)), lambda *_, **__: None)
    asked = frozenset({CoderTrial(coder="search", fingerprint="f", tree="t")})
    assert (chain.model_plans(frozenset()), chain.model_plans(asked)) == (False, True)
    assert not Chain((Dummy("search"),), lambda *_, **__: None).model_plans(asked), "there is no model to plan"


@pytest.mark.parametrize("text", ["", "modell", "search:x", "search:10", "model,model", "fixers;search", "search:-1s"])
def test_a_chain_that_is_not_understood_names_the_coders(text: str) -> None:
    with pytest.raises(UsageError, match=r"fixers, search, model|named twice"):
        parse_chain(text)


@given(st.permutations(["fixers", "search", "model"]), st.floats(0.5, 900))
def test_a_chain_reads_back_as_written(names: list[str], seconds: float) -> None:
    links = parse_chain(",".join(f"{name}:{seconds:.3f}s" for name in names))
    assert [link.name for link in links] == names
    assert all(link.seconds == pytest.approx(seconds, abs=0.001) for link in links)
