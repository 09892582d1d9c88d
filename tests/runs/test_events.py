"""One writer, one schema, a monotonic number; a bad event costs itself and nothing else."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kotef.runs.events import FIELDS, EventLog, read_events


def test_numbers_go_on_after_a_resume(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    EventLog(path)("notice", text="one")
    EventLog(path)("notice", text="two")
    assert [(line["n"], line["text"]) for line in read_events(path)] == [(1, "one"), (2, "two")]


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
    assert [line["text"] for line in read_events(log.path)] == ["still here"]
    assert "dropped" in caplog.text


def test_a_log_that_cannot_be_written_does_not_end_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[dict] = []
    log = EventLog(tmp_path / "no" / "such" / "events.jsonl", (seen.append,))
    log("notice", text="x")
    assert [line["text"] for line in seen] == ["x"], "whoever watches is told all the same"
    assert "not written" in caplog.text


@settings(max_examples=50)
@given(st.text(max_size=200), st.integers(0, 300))
def test_whatever_is_torn_off_the_end_the_rest_is_read(tail: str, cut: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "events.jsonl"
        log = EventLog(path)
        log("notice", text="whole")
        with path.open("a", encoding="utf-8", errors="surrogatepass") as file:
            file.write((json.dumps({"n": 2, "event": "notice", "text": "torn"}) + tail.replace("\n", " "))[:cut])
        assert next(read_events(path))["text"] == "whole"


def test_every_event_that_is_sent_is_in_the_schema() -> None:
    """The names used in the code are those of the table, and none of the table is unused."""
    import re

    root = Path(__file__).parents[2] / "kotef"
    used = {name for path in root.rglob("*.py") for name in re.findall(r"\bemit\(\s*\"(\w+)\"", path.read_text())}
    assert used == set(FIELDS)


def test_a_line_that_a_kill_has_torn_costs_itself_and_not_the_next(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    EventLog(path)("notice", text="one")
    EventLog(path)("notice", text="two")
    path.write_text(path.read_text()[:-9])
    EventLog(path)("notice", text="three")
    assert [(line["n"], line["text"]) for line in read_events(path)] == [(1, "one"), (2, "three")]
