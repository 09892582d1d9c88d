"""What the events of a run tell of its visits."""

from inspect import get_annotations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.run_events import event, events, recorded

from kotef.events import KINDS, RecordedEvent, RunEvent
from kotef.report.guards import _GUARDS, GuardReport, guard_of
from kotef.report.timeline import record_of
from kotef.runs.run_history import RunHistory


def lines(*told: tuple[float, str, dict[str, Any]]) -> RunHistory:
    return RunHistory.of(recorded(name, at, **facts) for at, name, facts in told)


VERDICT = {"passed": False, "detail": "red", "summary": "red", "fixed": [], "broken": [], "put_back": [], "left": []}


def test_time_is_told_by_phase_and_a_pause_before_a_resume_is_no_work() -> None:
    record = record_of(
        lines(
            (0, "run_started", {}),
            (4, "verified", {"visit": 0, **VERDICT}),
            (5, "planned", {"visit": 1, "source": "model", "hypothesis": "why", "steps": ["do"]}),
            (6, "coder_started", {"visit": 1, "coder": "model"}),
            (1006, "run_resumed", {"run": "r1", "outcome": None, "sandbox": "off", "network": False}),
            (
                1009,
                "coder_finished",
                {"visit": 1, "stopped_by": "finished", "changed": ["a"], "detail": "", "summary": "so"},
            ),
            (1011, "verified", {"visit": 1, **VERDICT}),
            (1012, "ended", {}),
            (1099, "run_finished", {}),
        )
    )
    baseline, first = record.visits
    assert baseline.seconds == {"check": 4}
    assert first.seconds == {"plan": 3, "code": 3, "check": 2}
    assert (record.seconds, record.began, record.last, record.doing) == (12, 0, 1099, "")
    assert (first.hypothesis, first.steps, first.changed, first.said, first.passed) == (
        "why",
        ("do",),
        ("a",),
        "so",
        False,
    )
    assert first.guards == (GuardReport("resumed", "the run was resumed here", "note"),)


def test_an_answer_of_an_older_kotef_is_read_without_its_model() -> None:
    old = {"node": "coder", "tokens_in": 5, "tokens_out": 1, "cost": 0.5, "estimated": True}
    new = {**old, "tokens_cached": 4, "model": "m-2026", "seconds": 2.5}
    told = lines((0, "model_answer", {"visit": 1, **old}), (1, "model_answer", {"visit": 1, **new}))
    visit = record_of(told).visits[-1]
    assert [(call.model, call.tokens_cached, call.seconds) for call in visit.calls] == [
        ("", 0, None),
        ("m-2026", 4, 2.5),
    ]
    assert (visit.tokens, visit.cost) == (12, 1.0)


def test_what_tells_no_visit_belongs_to_the_one_at_work() -> None:
    record = record_of(
        lines(
            (0, "verified", {"visit": 0, **VERDICT}),
            (1, "coder_started", {"visit": 1, "coder": "model"}),
            (2, "model_fallback", {"model": "a", "stand_in": "b", "why": "gone"}),
        )
    )
    assert [guard.text for guard in record.visits[1].guards] == ["b took over for a: gone"]
    assert record.doing == "attempt 1: the coder (model) is at work"


def test_a_refused_review_is_no_pass() -> None:
    record = record_of(
        lines(
            (0, "verified", {"visit": 1, **VERDICT, "passed": True}),
            (1, "reviewed", {"visit": 1, "accepted": False, "reason": "half of it"}),
        )
    )
    visit = record.visits[-1]
    assert (visit.passed, visit.verdict) == (False, "review refused: half of it")


def test_what_is_no_guard_has_no_sentence_of_one() -> None:
    assert set(_GUARDS) <= set(KINDS.values())
    assert guard_of(event("tool_started")) is None


def test_every_guard_has_a_sentence_from_the_fields_of_its_event() -> None:
    samples: dict[type, Any] = {str: "x", int: 1, float: 1.0, bool: True, tuple[str, ...]: ["x"]}
    for kind in _GUARDS:
        declared = get_annotations(kind)
        facts = {name: samples[declared[name]] for name in kind.field_names if declared[name] in samples}
        guard = guard_of(event(kind.event_name, **facts))
        assert guard is not None, kind
        assert guard.text, kind


@given(st.lists(events(), max_size=8))
def test_whatever_happened_there_is_a_timeline_of_it(found: list[RunEvent]) -> None:
    history = RunHistory.of(RecordedEvent(number, float(number), one) for number, one in enumerate(found, 1))
    assert record_of(history).seconds <= len(found)
