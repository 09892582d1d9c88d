"""`kotef report` hands a run over; a page opens only where there is somebody to look at it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.loop import kotef
from support.run_dirs import RUN, made_run

from kotef.cli import outputs


@pytest.fixture
def looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A browser that writes down what it was asked to show."""
    seen = tmp_path / "seen.txt"
    program = tmp_path / "look"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > {seen}\n')
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{program} %s")
    return seen


def in_a_process(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kotef", *arguments, "--root", str(root)]
    return subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, check=False)


def test_open_builds_the_page_anew_and_opens_it(tmp_path: Path, looking: Path) -> None:
    (tmp_path / "project").mkdir()
    run = made_run(tmp_path / "project")
    done = in_a_process(tmp_path / "project", "report", "--open")
    page = run.record / "report.html"
    assert (done.returncode, done.stdout, done.stderr) == (0, f"opened {page}\n", "")
    assert looking.read_text() == page.as_uri()
    assert "all 3 attempts failed verification" in page.read_text()


@pytest.mark.parametrize("variable", ["CI", ""])
def test_in_ci_or_without_a_screen_the_path_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(outputs.sys, "platform", "linux")
    monkeypatch.setattr(outputs.webbrowser, "open", lambda *_: pytest.fail("nobody is there to look"))
    if variable:
        monkeypatch.setenv(variable, "true")
        monkeypatch.setenv("DISPLAY", ":0")
    run = made_run(tmp_path)
    done = kotef(tmp_path, "report", RUN, "--open")
    assert (done.code, done.stdout) == (0, f"no browser to open here; the report is {run.record / 'report.html'}\n")


def test_a_browser_that_cannot_be_started_fails_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_):
        raise outputs.webbrowser.Error("could not locate runnable browser")

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(outputs.webbrowser, "open", none)
    made_run(tmp_path)
    done = kotef(tmp_path, "report", "--open")
    assert (done.code, "no browser to open here" in done.stdout) == (0, True)


def test_html_goes_to_stdout_or_to_a_file_and_leaves_the_directory_as_it_is(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    piped = kotef(tmp_path, "report", "--format", "html")
    assert piped.stdout.startswith("<!doctype html>")
    done = kotef(tmp_path, "report", "--format", "html", "-o", str(tmp_path / "page.html"))
    assert (done.code, done.stdout) == (0, "")
    assert "<!doctype html>" in (tmp_path / "page.html").read_text()
    assert not (run.path / "report.html").exists()


def test_a_run_without_a_result_has_a_page_and_no_other_report(tmp_path: Path) -> None:
    made_run(tmp_path, ended=False)
    assert "it was killed in attempt 3" in kotef(tmp_path, "report", "--format", "html").stdout
    assert kotef(tmp_path, "report").code == 2


def test_open_shows_nothing_but_html(tmp_path: Path) -> None:
    made_run(tmp_path)
    done = kotef(tmp_path, "report", "--open", "--format", "json")
    assert done.code == 2
    assert "--open shows the HTML report, not json" in done.stderr


def test_a_secret_of_the_workspace_is_hidden_in_a_page_built_later(tmp_path: Path) -> None:
    made_run(tmp_path, sentence="it printed hunter2-and-more-of-it")
    (tmp_path / ".env").write_text("DB_PASSWORD=hunter2-and-more-of-it\n")
    page = kotef(tmp_path, "report", "--format", "html").stdout
    assert "hunter2" not in page
    assert "[secret:DB_PASSWORD]" in page


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    made_run(tmp_path)
    (tmp_path / "file").write_text("")
    done = kotef(tmp_path, "report", "--format", "html", "-o", str(tmp_path / "file" / "page.html"))
    assert done.code == 5
    assert "page.html" in done.stderr
