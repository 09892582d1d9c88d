"""Real commands: what passes, what contradicts itself, what is left behind."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import pytest

from kotef.checks.failure_list import failures_of
from kotef.checks.runner import run_check
from kotef.checks.types import CommandResult
from kotef.sandbox import child_environment

PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider"


@pytest.fixture
def run(tmp_path: Path):
    """Runs a command in a workspace of its own."""
    root = tmp_path / "work"
    root.mkdir()
    env = child_environment({"PATH": os.environ["PATH"]}) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # starts quicker

    def runs(command: str, *, timeout: float = 60, idle: float | None = None, **files: str) -> CommandResult:
        for name, text in files.items():
            (root / f"{name}.py").write_text(text)
        checked = run_check(
            command, root=root, env=env, timeout=timeout, idle_timeout=idle, log=tmp_path / "log", log_name="logs/x.log"
        )
        return asyncio.run(checked)

    return runs


def test_a_green_suite_passes_with_ids(run):
    result = run(PYTEST, test_a="def test_a(): pass")

    assert result.passed
    assert (result.tests, result.tests_executed, result.evidence) == ({"test_a.py::test_a": "passed"}, 1, "report")
    assert (result.kind, result.detail, result.summary, result.fingerprint) == (None, "", "", "")
    assert result.log == "logs/x.log"


def test_a_red_suite_names_its_tests(run):
    result = run(PYTEST, test_a="def test_a():\n    assert 1 == 2\ndef test_b(): pass")

    assert not result.passed
    assert (result.exit_code, result.kind, result.tests_executed) == (1, "test_failure", 2)
    assert result.red_ids == {"test_a.py::test_a"}
    assert "test_a.py::test_a" in result.summary
    assert len(result.fingerprint) >= 8


def test_a_file_of_a_workspace_that_lies_deep_is_told_from_its_root(tmp_path):
    """A long path is shortened; what is left of one must still name the file, for annotations too."""
    root = tmp_path / ("deep" * 20) / "work"
    root.mkdir(parents=True)
    (root / "test_a.py").write_text(
        "import unittest\nclass A(unittest.TestCase):\n    def test_a(self):\n        1 / 0\n"
    )
    env = child_environment({"PATH": os.environ["PATH"]})
    command = f"{sys.executable} -m unittest -q"
    result = asyncio.run(run_check(command, root=root, env=env, timeout=60, idle_timeout=None))

    assert "(test_a.py:4)" in result.summary
    assert [(told.file, told.line) for told in failures_of(result, root)] == [("test_a.py", 4)]


def test_the_report_goes_through_wrappers(run, tmp_path):
    (tmp_path / "work" / "Makefile").write_text(f"test:\n\t@{PYTEST}\n")
    through_make = run("make test", test_a="def test_a(): pass")
    through_shell = run(f"bash -c 'true && {PYTEST}'")

    assert through_make.evidence == through_shell.evidence == "report"


def test_the_failing_id_comes_first_when_the_output_does_not_name_it(run):
    result = run(f"{PYTEST} --tb=no -rN | tail -1; exit 1", test_a="def test_a(): assert 0")

    assert result.summary.startswith("test_a.py::test_a")


@pytest.mark.parametrize("command", [f"{PYTEST} | cat", f"{PYTEST} >/dev/null 2>&1 || true"])
def test_exit_status_0_with_a_red_report_is_a_contradiction(run, command):
    result = run(command, test_a="def test_a(): assert 0")

    assert (result.exit_code, result.passed, result.detail, result.kind) == (0, False, "contradiction", "test_failure")
    assert "exit status 0" in result.summary


def test_exit_status_0_with_failures_counted_is_a_contradiction(run):
    line = "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured"
    result = run("python3 cargo.py", cargo=f"print({line!r})")

    assert (result.passed, result.detail) == (False, "contradiction")
    assert run(f"echo '{line}'").passed, "a command that only shows text is no test runner"


def test_a_closing_line_that_the_report_does_not_bear_out_is_a_contradiction(run):
    hidden = "import atexit\natexit.register(lambda: print('5 passed in 0.1s'))\ndef test_a(): assert 0"

    assert run(PYTEST, test_a=hidden).detail == "contradiction"


def test_no_test_executed_is_never_a_pass(run):
    nothing = run(PYTEST, module="x = 1")
    deselected = run(f"{PYTEST} -k nope || true", test_a="def test_a(): pass")
    skipped = run(PYTEST, test_a="import pytest\n@pytest.mark.skip\ndef test_a(): pass")

    for result in (nothing, deselected, skipped):
        assert (result.passed, result.kind, result.detail, result.tests_executed) == (
            False,
            "tooling_error",
            "no_tests",
            0,
        )


def test_a_command_without_counts_has_its_exit_status_alone(run):
    green, red = run("true"), run("false")

    assert (green.passed, green.evidence, green.tests_executed, green.tests) == (True, "exit", None, None)
    assert (red.passed, red.exit_code) == (False, 1)
    assert red.kind is not None


def test_a_timeout_says_which_limit(run):
    wall = run("sleep 30", timeout=0.3)
    idle = run("sleep 30", timeout=20, idle=0.3)

    assert (wall.exit_code, wall.timed_out, wall.detail, wall.kind) == (None, True, "timeout", "tooling_error")
    assert wall.summary.startswith("timed out after 0.3 s")
    assert idle.summary.startswith("no output for 0.3 s")


def test_a_forged_or_odd_report_is_no_report(run):
    """A link, a pipe or a broken file in its place; the command itself is judged by what is left."""
    place = "$(python3 -c \"import os,shlex; print(shlex.split(os.environ['PYTEST_ADDOPTS'])[0].split('=')[1])\")"

    for odd in (f"ln -s /etc/passwd {place}", f"mkfifo {place}", f"mkdir {place}", f"echo '<testsuite' > {place}"):
        result = run(odd)
        assert (result.exit_code, result.tests, result.evidence) == (0, None, "exit"), odd


def test_the_report_directory_is_private_and_gone_afterwards(run, tmp_path):
    command = "python3 -c \"import os,shlex; d=os.path.dirname(shlex.split(os.environ['PYTEST_ADDOPTS'])[0].split('=')[1]); print(oct(os.stat(d).st_mode)[-3:], d)\""
    one, two = run(command).stdout.split(), run(command).stdout.split()

    assert one[0] == two[0] == "700"
    assert one[1] != two[1]
    assert not Path(one[1]).exists()
    assert one[1].startswith(tempfile.gettempdir())
    assert not one[1].startswith(str(tmp_path / "work"))


def test_errors_of_collection_are_red_files(run):
    result = run(PYTEST, test_a="import not_there_at_all")

    assert (result.passed, result.tests, result.tests_executed) == (False, {"test_a.py": "error"}, 0)


@pytest.mark.parametrize("command", ["grep -q todo notes.py", "grep -c todo notes.py"])
def test_a_check_that_is_a_search_fails_where_it_finds_nothing(run, command):
    result = run(command, notes="done = 1\n")

    assert not result.passed
    assert (result.kind, result.detail) == ("unknown", "no_match"), "a check has to say yes; alone it is an answer"
    assert result.fingerprint
    assert "no match" in result.summary
