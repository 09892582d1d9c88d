"""Whatever values an event, a result or an entry holds, every reader of it renders them, and shows no control character."""

import io
import json
import unicodedata
import xml.etree.ElementTree as ET
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from rich.console import Console
from support.any_models import values_of
from support.run_events import events

from kotef.checks.verification import Verification
from kotef.cli.screen import Screen
from kotef.events import RunEvent
from kotef.redaction import encodable
from kotef.report.formats import FORMATS
from kotef.report.html import as_html
from kotef.report.pull_request import pull_request_text
from kotef.report.step_summary import step_summary_text
from kotef.runs.attempts import attempts_of
from kotef.runs.ending_text import headline
from kotef.runs.events import PASSING, EventLog, read_events
from kotef.runs.result import Result
from kotef.runs.run_history import RunHistory
from kotef.runs.store import RunDir, at
from kotef.sdd.follow_up import follow_up
from kotef.sdd.issue import IssueEntry
from kotef.sdd.issue_markdown import parse_issues, render

SLOW = settings(
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def controls(text: str) -> list[str]:
    """The control characters and lone surrogates in a text."""
    return sorted({repr(char) for char in text if char not in "\n\t" and unicodedata.category(char) in {"Cc", "Cs"}})


def made(root: Path) -> RunDir:
    run = at(root, "r1")
    run.create()
    return run


@SLOW
@given(st.lists(events(), max_size=8))
def test_any_events_are_recorded_folded_and_shown(sent: list[RunEvent]) -> None:
    written = io.StringIO()
    with TemporaryDirectory() as place:
        run = made(Path(place))
        log = EventLog(run.events, (Screen(screen=Console(file=written)),))
        for event in sent:
            log(event.event_name, **vars(event))
        found = list(read_events(run.events))
        page = as_html(run, at_work=True)
    kept = [event for event in sent if event.event_name not in PASSING]
    assert [recorded.event.event_name for recorded in found] == [event.event_name for event in kept]
    history = RunHistory.of(found)
    json.dumps([attempt.model_dump() for attempt in attempts_of(history)], ensure_ascii=False).encode()
    history.last_failures()
    assert controls(written.getvalue()) == []
    assert controls(page) == []


RESULTS = values_of(Result, run_id="r1", started_at="2026-01-02T03:04:05Z", finished_at="2026-01-02T03:04:05Z")


@SLOW
@given(RESULTS, values_of(Verification, visit=1))
def test_any_result_is_rendered_in_every_format(result: Result, judged: Verification) -> None:
    result = encodable(result.model_copy(update={"tree_visit": 1}))
    with TemporaryDirectory() as place:
        run = made(Path(place))
        run.write_result(result)
        (run.path / "visit-1.json").write_text(encodable(judged).model_dump_json())
        shown = {name: form(run) for name, form in FORMATS.items()}
    for name in ("md", "junit", "html"):
        assert controls(shown[name]) == [], name
    ET.fromstring(shown["junit"])
    json.loads(shown["sarif"])
    assert Result.model_validate_json(shown["json"]) == result
    for text in (headline(result), pull_request_text(result), step_summary_text(result, ())):
        text.encode()


@SLOW
@given(values_of(IssueEntry, run_id="r1"))
def test_any_entry_is_written_and_read_back(entry: IssueEntry) -> None:
    text = render(entry)
    assert controls(text) == []
    assert controls(follow_up(entry.outcome, entry.sentence, entry.entries)) == []
    assert parse_issues(f"# Issues\n\n{text}").entries == (entry,)
