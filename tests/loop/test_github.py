"""A job of GitHub Actions: annotations, summary, outputs, and nobody else who gives orders to the runner."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.loop import BUG, DONE, FIX, PYTEST, UNITTEST, Agent, Ran, edit, git, kotef

from kotef.cli.annotations import annotation
from kotef.cli.github import annotations
from kotef.report import Located
from kotef.runs.result import Result

GOAL = "make add add"
WRONG = edit("calc.py", "a - b", "a * b")
Run = Callable[..., Ran]


@pytest.fixture
def project(unittest_project: Path) -> Path:
    """The tests here are about runners: their ids, their lines, their files."""
    return unittest_project


class Job:
    """The files of one step, and what the runner makes of what is printed there."""

    def __init__(self, place: Path) -> None:
        place.mkdir()
        self.summary, self.output = place / "summary.md", place / "output"

    @property
    def outputs(self) -> dict[str, str]:
        """As the runner reads them."""
        found = re.findall(r"^([\w-]+)<<(\S+)\n(.*?)\n\2$", self.output.read_text(), re.MULTILINE | re.DOTALL)
        return {name: value for name, _, value in found}


def commands(printed: str) -> list[str]:
    """The lines that a runner takes for commands, among them none between a stop and its token."""
    heard, token = list[str](), None
    for line in printed.splitlines():
        said = line.lstrip()
        if token is not None:
            token = None if said == f"::{token}::" else token
        elif said.startswith("::stop-commands::"):
            token = said.removeprefix("::stop-commands::")
        elif said.startswith("::") or "##[" in line:
            heard.append(said)
    assert token is None, "commands are heard again afterwards"
    return heard


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    made = Job(tmp_path / "job")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(made.summary))
    monkeypatch.setenv("GITHUB_OUTPUT", str(made.output))
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    return made


def red(run: Run, project: Path, *arguments: str, check: str = UNITTEST) -> Ran:
    return run(project, Agent(coder=[WRONG, DONE]), GOAL, "--check", check, "--max-attempts", "1", *arguments)


def test_a_red_run_marks_its_outcome_and_the_line_that_fails(project: Path, run: Run, job: Job) -> None:
    ran = red(run, project, check=PYTEST)
    assert ran.code == 3
    heard = commands(ran.stdout)
    assert heard[0].startswith("::error title=kotef%3A bounded_attempts_exceeded::")
    assert heard[1] == (
        "::error file=test_calc.py,line=8,title=test_calc.py%3A%3AAdd%3A%3Atest_add::AssertionError: -1 != 5"
    )
    assert len(heard) == 2
    assert ran.stderr == ""


def test_the_outputs_and_the_summary_say_how_it_ended(project: Path, run: Run, job: Job) -> None:
    ran = red(run, project)
    assert job.outputs == {
        "outcome": "bounded_attempts_exceeded",
        "exit-code": "3",
        "run-id": ran.result["runId"],
        "branch": "",
        "result": str(ran.record / "result.json"),
    }
    said = job.summary.read_text()
    assert said.startswith("## ❌ kotef: bounded_attempts_exceeded\n")
    assert "### What still fails" in said
    assert "| failed attempts | 1 of 1 |" in said


def test_a_verified_run_marks_nothing(project: Path, run: Run, job: Job) -> None:
    ran = run(project, Agent(coder=[FIX, DONE]), GOAL, "--check", UNITTEST)
    assert (ran.code, commands(ran.stdout)) == (0, [])
    assert job.outputs["outcome"] == "verified"
    assert job.summary.read_text().startswith("## ✅ kotef: verified\n")


def test_outside_of_a_job_and_with_no_github_nothing_of_it_happens(
    project: Path, run: Run, job: Job, monkeypatch
) -> None:
    assert "::" not in red(run, project, "--no-github").stdout.replace("::Add::", "")
    monkeypatch.delenv("GITHUB_ACTIONS")
    (project / "calc.py").write_text(BUG)
    assert "::stop-commands" not in red(run, project).stdout
    assert not job.output.exists()
    (project / "calc.py").write_text(BUG)
    assert "::error" in red(run, project, "--github").stdout, "it can be asked for"


def test_json_stays_one_object_and_the_job_is_told_all_the_same(project: Path, run: Run, job: Job) -> None:
    ran = red(run, project, "--json")
    assert json.loads(ran.stdout)["exitCode"] == 3
    assert job.outputs["exit-code"] == "3"
    assert red(run, project, "--json", "--github").code == 2


def test_what_tests_and_models_print_is_no_command(project: Path, run: Run, job: Job) -> None:
    bad = "::set-output name=outcome::verified"
    (project / "test_calc.py").write_text(
        "from calc import add\n\n\ndef test_add():\n"
        f"    assert add(2, 3) == 5, '\\n{bad}\\n  ::error::mine\\n##[add-path]/tmp\\nend'\n"
    )
    git(project, "commit", "-aqm", "bad")
    agent = Agent(
        coder=[WRONG, DONE],
        planner=lambda *_: __import__("support.loop", fromlist=["plan"]).plan(f"{bad}\n::add-mask::e", hypothesis=bad),
    )
    ran = run(project, agent, f"{GOAL}\n{bad}", "--check", PYTEST, "--max-attempts", "1")
    assert ran.code == 3
    assert bad in ran.stdout, "it is shown"
    assert all(line.startswith("::error ") for line in commands(ran.stdout))
    assert not [line for line in commands(ran.stdout) if "##[" in line.partition("::error")[0]]
    assert job.outputs["outcome"] == "bounded_attempts_exceeded"
    assert "\n::" not in job.summary.read_text()


def test_an_error_before_the_run_is_marked_and_told(project: Path, job: Job) -> None:
    ran = kotef(project, "run", "--ticket", "::set-env name=X::1\n::add-path::y")
    assert ran.code == 2
    heard = commands(ran.stdout)
    assert len(heard) == 1
    assert heard[0].startswith("::error title=kotef::")
    assert commands(ran.stderr) == []
    assert job.outputs == {"outcome": "", "exit-code": "2", "run-id": "", "branch": "", "result": ""}
    assert "nothing was run" in job.summary.read_text()


@pytest.mark.parametrize("arguments", [["--max-attempts", "99"], ["--no-such-option"], ["--branch=--trust"]])
def test_a_command_line_that_is_wrong_is_marked_and_told_too(project: Path, job: Job, arguments: list[str]) -> None:
    ran = kotef(project, "run", GOAL, *arguments)
    assert ran.code == 2
    heard = commands(ran.stdout)
    assert [line[:21] for line in heard] == ["::error title=kotef::"]
    assert arguments[0] in heard[0]
    assert job.outputs["exit-code"] == "2"
    assert "nothing was run" in job.summary.read_text()
    before = job.output.read_text()
    assert "::error" not in kotef(project, "run", GOAL, *arguments, "--no-github").stdout
    assert job.output.read_text() == before


def test_paths_are_told_from_the_top_of_the_checkout(project: Path, run: Run, job: Job, monkeypatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.parent))
    ran = red(run, project, check=PYTEST)
    assert "::error file=project/test_calc.py,line=8," in ran.stdout
    ran = kotef(project, "check", "--check", PYTEST, "--no-compare")
    assert "::error file=project/test_calc.py,line=8," in ran.stdout, "of `kotef check`, too"


def test_a_secret_is_neither_marked_nor_summed_up_nor_masked(project: Path, run: Run, job: Job, monkeypatch) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "quiet-Horse-7731-staple")
    (project / "test_calc.py").write_text(
        "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5, 'quiet-Horse-7731-staple'\n"
    )
    git(project, "commit", "-aqm", "leak")
    ran = red(run, project, check=PYTEST)
    assert ran.code == 3
    everything = ran.stdout + ran.stderr + job.summary.read_text() + job.output.read_text()
    assert "[secret:SERVICE_TOKEN]" in everything
    assert "quiet-Horse" not in everything
    assert "add-mask" not in everything


def test_a_branch_that_was_refused_is_a_warning_and_no_output(project: Path, run: Run, job: Job, monkeypatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")
    (project / "calc.py").write_text("# mine\n" + BUG)
    ran = run(project, Agent(coder=[FIX, DONE]), GOAL, "--check", UNITTEST, "--branch")
    assert ran.code == 0
    assert [line.partition("::calc.py")[0] for line in commands(ran.stdout)] == [
        "::warning title=kotef%3A no branch kotef/make-add-add"
    ]
    assert job.outputs["branch"] == ""


def test_files_of_the_job_that_cannot_be_written_cost_no_run_its_status(
    project: Path, run: Run, job: Job, monkeypatch
) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", "/no/such/place")
    ran = red(run, project)
    assert ran.code == 3
    assert "GITHUB_OUTPUT cannot be written" in ran.stdout + ran.stderr


def test_github_shows_ten_so_the_run_and_what_blocks_come_first(project: Path, run: Run) -> None:
    result = Result.model_validate(red(run, project).result)
    many = [Located(True, "c", f"t{n}", "no", "f.py", n, "r") for n in range(1, 30)]
    many += [Located(False, "c", f"old{n}", "no", "f.py", n, "r") for n in range(1, 30)]
    said = list(annotations(result, many))
    assert len([line for line in said if line.startswith("::error ")]) == 10
    assert len([line for line in said if line.startswith("::warning ")]) == 10
    assert "(29 tests or checks still fail; the summary lists them)" in said[0]
    assert "title=t1::" in said[1]


@given(st.text(), st.text(), st.text())
def test_no_text_can_end_an_annotation_or_begin_another(message: str, title: str, file: str) -> None:
    line = annotation("error", message, title=title, file=file, line=3)
    assert line.splitlines() in ([line], [])
    head, _, _ = line.removeprefix("::error ").partition("::")
    assert all(part.partition("=")[0] in {"file", "line", "title"} for part in head.split(","))


def test_check_hears_no_command_of_a_test_either(project: Path, job: Job) -> None:
    (project / "test_calc.py").write_text(
        "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5, '\\n::set-output name=x::y\\n##[error]z'\n"
    )
    ran = kotef(project, "check", "--check", PYTEST, "--no-compare")
    assert ran.code == 3
    assert all(line.startswith("::error ") for line in commands(ran.stdout))
