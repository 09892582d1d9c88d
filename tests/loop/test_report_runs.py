"""The page of a run keeps up with it, outlives what ends it, and never costs it anything."""

import logging
from pathlib import Path

import pytest
from support.loop import DONE, FIX, UNITTEST, Agent, write
from support.openai_server import Reply, calls, status

from kotef.report import html, live_page
from kotef.report.page_data import page_of
from kotef.runs.store import RunDir, at

WRONG = (write("notes.txt", "x\n"), DONE)


@pytest.fixture
def project(unittest_project: Path) -> Path:
    """The tests here are about runners: their ids, their lines, their files."""
    return unittest_project


def test_the_page_is_rewritten_at_each_visit_and_says_how_it_ended(
    project: Path, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, str, int]] = []

    def watched(directory: RunDir, *, at_work: bool = False) -> str:
        page = page_of(directory, at_work=at_work)
        seen.append((page.outcome, page.sentence, len(page.matrix.columns)))
        return html.render_page(page, reload=page.tone == "working")

    monkeypatch.setattr(html, "as_html", watched)
    monkeypatch.setattr(live_page, "PAUSE", 0.0)
    ran = run(project, Agent(coder=[*WRONG, FIX, DONE]), "make add add", "--check", UNITTEST)

    assert seen == [
        ("at work", "attempt 1 is planned", 1),
        ("at work", "attempt 1 is planned", 1),
        ("at work", "attempt 2 is planned", 2),
        ("at work", "attempt 2 is planned", 2),
        ("at work", "attempt 2 passed its checks", 3),
        ("verified", f"{ran.result['sentence']} (at attempt 2 of 3)", 3),
    ]
    page = (ran.run_dir / "report.html").read_text()
    assert "<body>" in page, "it reloads no more"
    assert "return a + b" in page
    assert f"report: .sdd/runs/{ran.result['runId']}/report.html" in ran.stdout


def test_the_model_of_every_call_is_on_record_with_its_time_and_its_cached_tokens(project: Path, run) -> None:
    cached = [Reply(calls=reply.calls, content=reply.content, tokens_cached=64) for reply in (FIX, DONE)]
    ran = run(project, Agent(coder=cached), "make add add", "--check", UNITTEST)

    told = [event for event in ran.events if event["event"] == "model_answer"]
    assert [(event["node"], event["model"], event["tokens_cached"]) for event in told] == [
        ("planner", "scripted", 0),
        ("coder", "scripted", 64),
        ("coder", "scripted", 64),
    ]
    assert all(0 < event["seconds"] < 60 for event in told)
    (planner, coder) = page_of(at(ran.root, ran.run_dir.name)).asked
    assert (coder.model, coder.calls, coder.tokens_cached, planner.calls) == ("scripted", 2, 128, 1)


def test_a_page_that_cannot_be_made_costs_the_run_nothing(
    project: Path, run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_, **__):
        raise ZeroDivisionError("a defect in the page")

    monkeypatch.setattr(html, "as_html", broken)
    with caplog.at_level(logging.WARNING):
        ran = run(project, Agent(coder=[FIX, DONE]), "make add add", "--check", UNITTEST)

    assert (ran.code, ran.result["outcome"]) == (0, "verified")
    assert not (ran.run_dir / "report.html").exists()
    assert "report.html not written: ZeroDivisionError" in caplog.text


def test_a_run_that_ends_outside_of_the_graph_has_its_page(project: Path, run) -> None:
    ran = run(project, Agent(planner=lambda *_: status(401, "no such key")), "make add add", "--check", UNITTEST)

    assert ran.result["outcome"] == "model_unavailable"
    page = (ran.run_dir / "report.html").read_text()
    assert "model_unavailable" in page
    assert "<body>" in page, "it reloads no more"


def test_what_was_put_back_is_in_the_matrix_and_among_the_guards(project: Path, run) -> None:
    cheat = calls(write("test_calc.py", "x = 1\n").calls[0])
    agent = Agent(coder=[write("test_new.py", "x = 1\n"), DONE, cheat, DONE, *WRONG])
    ran = run(project, agent, "make add add", "--check", UNITTEST)

    page = page_of(at(ran.root, ran.run_dir.name))
    guards = [guard.text for attempt in page.attempts for guard in attempt.record.guards if guard.name == "put back"]
    columns = [column.visit for column in page.matrix.columns if column.put_back]
    put_back = [event["visit"] for event in ran.events if event["event"] == "verified" and event["put_back"]]
    assert columns == put_back
    assert len(guards) == len(put_back)
