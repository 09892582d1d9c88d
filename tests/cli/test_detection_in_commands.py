"""What is detected is tried, and `doctor`, `init`, `check` and `run` agree on what is required."""

import json
import sys
from pathlib import Path

import pytest
from support.loop import BUG, UNITTEST_TEST, git, kotef

GREEN = BUG.replace("a - b", "a + b")
CONFIGURED = "[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\nfiles = ['calc.py']\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Committed; green; an environment with pytest alone, and ruff and mypy in the configuration."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    root = tmp_path / "root"
    root.mkdir()
    for name, text in {
        "calc.py": GREEN,
        "test_calc.py": UNITTEST_TEST,
        "pyproject.toml": CONFIGURED,
        ".gitignore": ".venv\n__pycache__\n.pytest_cache\n",
    }.items():
        (root / name).write_text(text)
    interpreter(root, f'exec {sys.executable} "$@"')
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    return root


def interpreter(root: Path, line: str) -> None:
    for name in ("python", "pip"):
        path = root / ".venv" / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)


NOT_INSTALLED = (
    "ruff check (`ruff check .`) is not installed: ruff is not found; install it: .venv/bin/python -m pip install ruff"
)


def test_check_and_run_and_init_and_doctor_leave_out_what_is_not_installed(project: Path) -> None:
    ran = kotef(project, "check")
    assert ran.code == 0
    assert f"note: {NOT_INSTALLED}; it is not required" in ran.stdout
    assert "green: 1 of 1 checks passed" in ran.stdout

    ran = kotef(project, "run", "make it faster", "--coder", "fixers")
    assert f"note: {NOT_INSTALLED}; it is not required" in ran.stdout
    started = next(event for event in ran.events if event["event"] == "run_started")
    assert started["checks"] == [".venv/bin/python -m pytest"]
    assert [event["event"] for event in ran.events].count("check_started") == 1, "the suite runs once at the baseline"

    told = kotef(project, "doctor", "--json")
    found = json.loads(told.stdout)
    assert told.code == found["exitCode"] == 0, "neither a missing linter nor a missing model is in the way"
    rows = {row["check"]: row for row in found["checks"]}
    assert {name: (row["state"], row["starts"], row["required"]) for name, row in rows.items()} == {
        "pytest": ("ok", True, True),
        "ruff check": ("note", False, False),
        "mypy": ("note", False, False),
    }
    assert rows["pytest"]["source"] == "pyproject.toml: tool.pytest"
    assert rows["pytest"]["version"].startswith("pytest ")
    assert rows["pytest"]["lastSeconds"] > 0, "the run above"
    assert any(
        finding["text"].startswith("model: optional") for finding in found["findings"] if finding["state"] == "note"
    )

    ran = kotef(project, "init")
    assert "checks: `.venv/bin/python -m pytest`" in ran.stdout
    assert f"note: {NOT_INSTALLED}; it is written as a comment" in ran.stdout
    commands = [line for line in (project / ".sdd/architect.md").read_text().splitlines() if "ruff" in line]
    assert len(commands) == 1
    assert commands[0].startswith("# not installed")


def test_a_linter_that_is_installed_after_init_is_required_then(project: Path) -> None:
    kotef(project, "init")
    ruff = project / ".venv/bin/ruff"
    ruff.write_text("#!/bin/sh\necho ruff 1.2.3\n")
    ruff.chmod(0o755)
    ran = kotef(project, "check", "--json")
    assert [check["command"] for check in json.loads(ran.stdout)["checks"]] == [
        ".venv/bin/ruff check .",
        ".venv/bin/python -m pytest",
    ]


def test_after_init_nothing_counts_as_uncommitted_and_every_check_runs_once(project: Path) -> None:
    kotef(project, "init")
    found = json.loads(kotef(project, "check", "--json").stdout)
    assert (found["green"], found["against"]) == (True, None)
    assert "clean" in kotef(project, "doctor").stdout.splitlines()[0]


def test_without_a_usable_environment_check_and_run_end_5_with_the_same_sentence(project: Path) -> None:
    interpreter(project, "echo '/x/python: No module named pytest' >&2; exit 1")
    sentence = (
        "no check can be run here: pytest (`.venv/bin/python -m pytest`) is not installed: "
        "/x/python: No module named pytest; install it: .venv/bin/python -m pip install pytest"
    )
    ran = kotef(project, "check")
    assert ran.code == 5
    assert sentence in ran.stderr
    ran = kotef(project, "run", "make it faster", "--coder", "fixers")
    assert (ran.code, ran.result["outcome"], ran.result["reason"]) == (5, "environment_broken", "missing_runner")
    assert ran.result["sentence"].startswith(sentence)
    assert "and do not need pytest: --check '.venv/bin/python -m unittest'" in ran.result["sentence"]
    assert not [event for event in ran.events if event["event"] == "check_started"], "nothing was run"
    told = kotef(project, "doctor")
    assert told.code == 5
    assert sentence in told.stdout

    interpreter(project, f'exec {sys.executable} "$@"')
    again = kotef(project, "resume", "--last")
    assert again.result["reason"] == "nothing_left_to_try", "what is installed meanwhile is tried again"


def test_a_check_that_somebody_named_is_required_also_where_it_cannot_start(project: Path) -> None:
    ran = kotef(project, "check", "--check", "ruff check .")
    assert ran.code == 5
    (project / ".sdd").mkdir()
    (project / ".sdd/kotef.toml").write_text('checks = ["ruff check ."]\n')
    assert kotef(project, "check").code == 5
    told = kotef(project, "doctor", "--json")
    assert told.code == 5
    (row,) = json.loads(told.stdout)["checks"]
    assert (row["state"], row["required"], row["starts"]) == ("missing", True, False)


LINT = "sh -c 'test ! -f bad.txt || { cat bad.txt; exit 1; }'"


def test_a_failure_without_a_test_is_said_to_be_at_head_only_where_it_was(project: Path) -> None:
    (project / "bad.txt").write_text("calc.py:1:1: E501 line too long\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "bad")
    (project / "bad.txt").write_text("calc.py:2:1: E501 line too long\ncalc.py:7:1: F821 undefined name `x`\n")
    ran = kotef(project, "check", "--check", LINT)
    lines = {line.split("(")[0].strip(): line for line in ran.stdout.splitlines() if "calc.py" in line}
    assert ran.code == 3
    assert any("E501" in line and "[at HEAD too]" in line for line in lines.values()), ran.stdout
    assert any("F821" in line and "[new since HEAD]" in line for line in lines.values()), ran.stdout


def test_a_suite_that_stopped_to_load_is_not_said_to_have_done_so_before(project: Path) -> None:
    (project / "calc.py").write_text(BUG)
    git(project, "commit", "-qam", "red")
    (project / "test_calc.py").write_text("raise SystemExit(9)\n")
    ran = kotef(project, "check", "--check", ".venv/bin/python -m pytest -q -p no:cacheprovider")
    assert ran.code == 3
    assert "[at HEAD too]" not in ran.stdout, ran.stdout
