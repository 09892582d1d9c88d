"""One writer, one schema, a monotonic number; a bad event costs itself and nothing else."""

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from support.example_count import example_count
from support.run_events import events

from kotef.cli.screen import Screen
from kotef.events import KINDS, NoticeEvent, RecordedEvent, parse_line, parse_text
from kotef.runs.attempts import attempts_of
from kotef.runs.events import EventLog, read_events
from kotef.runs.run_history import RunHistory


def test_numbers_go_on_after_a_resume(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    EventLog(path)("notice", text="one")
    EventLog(path)("notice", text="two")
    assert [(line.number, line.event.text) for line in read_events(path)] == [(1, "one"), (2, "two")]


@pytest.mark.parametrize(
    ("event", "facts"),
    [
        ("no_such_event", {}),
        ("notice", {}),
        ("notice", {"text": object()}),
        ("notice", {"text": "x", "more": 1}),
    ],
)
def test_a_bad_event_is_dropped_with_a_warning(
    tmp_path: Path, event: str, facts: dict, caplog: pytest.LogCaptureFixture
) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    log(event, **facts)
    log("notice", text="still here")
    assert [line.event for line in read_events(log.path)] == [NoticeEvent(text="still here")]
    assert "dropped" in caplog.text


def test_a_log_that_cannot_be_written_does_not_end_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[RecordedEvent] = []
    log = EventLog(tmp_path / "no" / "such" / "events.jsonl", (seen.append,))
    log("notice", text="x")
    assert [line.event for line in seen] == [NoticeEvent(text="x")], "whoever watches is told all the same"
    assert "cannot be written" in caplog.text


@example_count(50)
@given(st.text(max_size=200), st.integers(0, 300))
def test_whatever_is_torn_off_the_end_the_rest_is_read(tail: str, cut: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "events.jsonl"
        log = EventLog(path)
        log("notice", text="whole")
        with path.open("a", encoding="utf-8", errors="surrogatepass") as file:
            file.write((json.dumps({"n": 2, "event": "notice", "text": "torn"}) + tail.replace("\n", " "))[:cut])
        assert next(read_events(path)).event == NoticeEvent(text="whole")


def test_every_event_that_is_sent_is_in_the_schema() -> None:
    """The names used in the code are those of the table, and none of the table is unused."""
    import re

    root = Path(__file__).parents[2] / "kotef"
    used = {name for path in root.rglob("*.py") for name in re.findall(r"\bemit\(\s*\"(\w+)\"", path.read_text())}
    assert used | {"model_words"} == set(KINDS), "the words of a model go to watchers only"


def test_a_line_that_a_kill_has_torn_costs_itself_and_not_the_next(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    EventLog(path)("notice", text="one")
    EventLog(path)("notice", text="two")
    path.write_text(path.read_text()[:-9])
    EventLog(path)("notice", text="three")
    assert [(line.number, line.event.text) for line in read_events(path)] == [(1, "one"), (2, "three")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
RECORDED = st.builds(RecordedEvent, number=st.integers(1, 9), time=st.floats(0, 1e9), event=events())


@given(RECORDED)
def test_what_is_written_is_read_again(recorded: RecordedEvent) -> None:
    """In one JSON: number, time and name first, then the fields in the order of the class."""
    text = json.dumps(recorded.line())
    assert parse_text(text) == recorded
    assert list(json.loads(text)) == ["n", "t", "event", *recorded.event.field_names]


@given(RECORDED, st.dictionaries(st.text(min_size=9, max_size=12), JSON, max_size=3), st.data())
def test_a_line_of_another_version_is_kept_as_it_stands(
    recorded: RecordedEvent, more: dict[str, object], data: st.DataObject
) -> None:
    """Fields that are new, fields that are missing, and kinds that are unknown."""
    whole = recorded.line()
    newer = {**whole, **{name: value for name, value in more.items() if name not in whole}}
    assert line_of(newer) == newer

    optional = [name for name in recorded.event.field_names if not hasattr(type(recorded.event), name)]
    gone = data.draw(st.sets(st.sampled_from(optional))) if optional else set()
    older = {name: value for name, value in whole.items() if name not in gone}
    assert line_of(older) == older

    foreign = {**newer, "event": "of_another_version"}
    assert line_of(foreign) == foreign


def line_of(line: dict[str, object]) -> dict[str, object]:
    found = parse_line(line)
    assert found is not None
    return found.line()


LINES = st.lists(
    st.one_of(
        RECORDED.map(lambda recorded: json.dumps(recorded.line())),
        st.tuples(RECORDED, st.integers(0, 80)).map(lambda torn: json.dumps(torn[0].line())[: torn[1]]),
        st.tuples(RECORDED, st.sampled_from(["n", "t", "event", "visit", "checks", "seconds"]), JSON).map(
            lambda changed: json.dumps({**changed[0].line(), changed[1]: changed[2]})
        ),
        JSON.map(json.dumps),
        st.text(max_size=30).filter(lambda text: "\n" not in text),
    ),
    max_size=12,
)


@example_count(60)
@given(LINES)
def test_no_line_makes_a_reader_fail(lines: list[str]) -> None:
    """Torn, foreign or of another version: it costs itself, whoever reads it."""
    found = [recorded for line in lines if (recorded := parse_text(line)) is not None]
    history = RunHistory.of(found)
    attempts_of(history)
    history.last_failures()
    screen = Screen(limits=None, screen=Console(file=io.StringIO()))
    for recorded in found:
        screen(recorded)
