"""`kotef check`: what it says, how it ends, and that it touches nothing."""

import json
import os
import shutil
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from support import loop
from support.loop import BUG, UNITTEST_TEST, Ran, contents, git, kotef

from kotef.cli.main import main
from kotef.sandbox import checkout

PYTEST = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q"
UNITTEST = "python -m unittest -q"
GREEN = BUG.replace("a - b", "a + b")
EXAMPLE = Path(__file__).parents[2] / "examples" / "discount"


@pytest.fixture
def plain_project(tmp_path: Path) -> Path:
    """A directory without git, with a bug and the test that shows it."""
    root = tmp_path / "plain"
    root.mkdir()
    (root / "calc.py").write_text(BUG)
    (root / "test_calc.py").write_text(UNITTEST_TEST)
    return root


@pytest.fixture
def repository(plain_project: Path) -> Path:
    """The same, committed."""
    git(plain_project, "init", "-q")
    (plain_project / ".gitignore").write_text("__pycache__/\n")
    git(plain_project, "add", "-A")
    git(plain_project, "commit", "-q", "-m", "start")
    return plain_project


def every(root: Path) -> dict[str, bytes]:
    """Every file, git's and kotef's own included."""
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def checked(root: Path, *arguments: str) -> tuple[Ran, dict[str, object]]:
    ran = kotef(root, "check", "--json", *arguments)
    return ran, json.loads(ran.stdout)


def test_red_without_git_one_line_per_failure_and_no_file_left(plain_project: Path) -> None:
    before = every(plain_project)
    ran = kotef(plain_project, "check", "--check", PYTEST)
    assert ran.code == 3
    assert f"✗ {PYTEST}: exit 1, 2 tests run" in ran.stdout
    assert "    test_calc.py::Add::test_add: AssertionError: -1 != 5 (test_calc.py:8)" in ran.stdout
    assert "red: 1 of 1 checks failed" in ran.stdout
    assert every(plain_project) == before, "not even a cache"


def test_green_is_0_and_a_cache_that_was_there_stays(plain_project: Path) -> None:
    (plain_project / "calc.py").write_text(GREEN)
    cache = plain_project / ".pytest_cache"
    cache.mkdir()
    (cache / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55")
    ran = kotef(plain_project, "check", "--check", PYTEST)
    assert ran.code == 0
    assert "green: 1 of 1 checks passed" in ran.stdout
    assert cache.is_dir()


def test_a_lint_that_alone_is_checked_needs_no_test(plain_project: Path) -> None:
    assert kotef(plain_project, "check", "--check", "python -m compileall -q calc.py").code == 0
    (plain_project / "calc.py").write_text("def add(:\n")
    ran, found = checked(plain_project, "--check", "python -m py_compile calc.py")
    assert ran.code == 3
    assert [(f["file"], f["line"]) for f in found["checks"][0]["failures"]] == [("calc.py", 1)]


def test_uncommitted_work_is_compared_with_head(repository: Path) -> None:
    (repository / "calc.py").write_text(GREEN.replace("a + b", "a + b + (a == 0)"))
    status = git(repository, "status", "--porcelain=v2")
    before = every(repository)
    ran = kotef(repository, "check", "--check", PYTEST)
    assert ran.code == 3
    lines = [" ".join(line.split()) for line in ran.stdout.splitlines()]
    assert "at HEAD now" in lines
    assert "passed 1 1" in lines
    assert "test_calc.py::Add::test_nothing: AssertionError: 1 != 0 (test_calc.py:11) [new since HEAD]" in lines
    assert "fixed: test_calc.py::Add::test_add" in lines
    assert "red: 1 of 1 checks failed; 1 broken since HEAD" in lines
    assert (every(repository), git(repository, "status", "--porcelain=v2")) == (before, status)


@pytest.mark.parametrize(
    ("made", "is_work"),
    [("venv/pyvenv.cfg", False), ("node_modules/a/index.js", False), ("venv/app.py", True), ("extra.txt", True)],
)
def test_an_environment_that_git_does_not_ignore_is_no_uncommitted_work(
    repository: Path, made: str, is_work: bool
) -> None:
    (repository / made).parent.mkdir(parents=True, exist_ok=True)
    (repository / made).write_text("home = /usr/bin\n")
    assert checked(repository, "--check", UNITTEST)[1]["against"] == ("HEAD" if is_work else None)


def test_a_clean_tree_is_not_compared_and_no_compare_never_does(repository: Path) -> None:
    assert checked(repository, "--check", UNITTEST)[1]["against"] is None
    (repository / "calc.py").write_text(GREEN)
    assert checked(repository, "--check", UNITTEST)[1]["against"] == "HEAD"
    assert checked(repository, "--check", UNITTEST, "--no-compare")[1]["against"] is None


def test_what_failed_before_does_not_excuse_what_fails_now(repository: Path) -> None:
    (repository / "new.py").write_text("")
    ran, found = checked(repository, "--check", PYTEST)
    assert (ran.code, found["detail"], found["broken"]) == (3, "red", [])
    assert [failure["state"] for failure in found["checks"][0]["failures"]] == ["still"]


def test_green_checks_are_red_when_a_test_went_missing_or_is_skipped(repository: Path) -> None:
    (repository / "calc.py").write_text(GREEN)
    (repository / "test_calc.py").write_text(UNITTEST_TEST.replace("test_nothing", "nothing"))
    ran, found = checked(repository, "--check", PYTEST)
    assert (ran.code, found["detail"], found["missing"]) == (3, "tests_missing", ["test_calc.py::Add::test_nothing"])
    ran = kotef(repository, "check", "--check", PYTEST, "--github")
    lines = ran.stdout.splitlines()
    assert "red: 1 test that ran at HEAD no longer runs" in lines
    titles = [line.partition(":")[0] for line in lines]
    assert titles.index("no longer run") < titles.index("fixed"), "the cause comes first"
    assert lines[-1].startswith("::error file=test_calc.py,title=test_calc.py%3A%3AAdd%3A%3Atest_nothing::")
    skipped = UNITTEST_TEST.replace("    def test_nothing", "    @unittest.skip('x')\n    def test_nothing")
    (repository / "test_calc.py").write_text(skipped)
    ran, found = checked(repository, "--check", PYTEST, "--against", "HEAD")
    assert (ran.code, found["newlySkipped"]) == (3, ["test_calc.py::Add::test_nothing"])
    said = kotef(repository, "check", "--check", PYTEST).stdout
    assert "skipped or expected to fail now: test_calc.py::Add::test_nothing" in said
    assert "1 newly skipped" in said


def test_a_commit_that_is_not_there_is_a_usage_error(repository: Path, plain_project: Path, tmp_path: Path) -> None:
    ran = kotef(repository, "check", "--against", "no-such-branch")
    assert (ran.code, ran.stderr.count("\n")) == (2, 1)
    assert "--against no-such-branch: no such commit" in ran.stderr
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "x.py").write_text("")
    ran = kotef(bare, "check", "--against", "HEAD", "--check", "true")
    assert (ran.code, "not a git repository" in ran.stderr) == (2, True)


@pytest.mark.parametrize(
    "arguments",
    [("--json", "--github"), ("--against", "HEAD", "--no-compare"), ("--check", " "), ("--reruns", "11")],
)
def test_options_that_make_no_sense_are_usage_errors(repository: Path, arguments: tuple[str, ...]) -> None:
    ran = kotef(repository, "check", *arguments)
    assert ran.code == 2
    assert json.loads(ran.stdout)["reason"] == "usage" if "--json" in arguments else ran.stdout == ""


def test_without_a_check_or_a_tool_it_cannot_be_judged(tmp_path: Path, plain_project: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    ran = kotef(empty, "check")
    assert (ran.code, "no check is named or found" in ran.stderr) == (5, True)
    ran, found = checked(plain_project, "--check", "no-such-tool --now")
    assert (ran.code, found["green"], found["detail"]) == (5, False, "command_not_found")
    assert (
        "cannot be judged: command not found" in kotef(plain_project, "check", "--check", "no-such-tool --now").stdout
    )


def test_annotations_are_escaped_and_one_for_each_failure(plain_project: Path) -> None:
    (plain_project / "test_odd.py").write_text("def test_odd():\n    assert '100%,:' == 'x'\n")
    ran = kotef(plain_project, "check", "--check", PYTEST, "--github")
    lines = [line for line in ran.stdout.splitlines() if line.startswith("::error")]
    assert len(lines) == 2
    assert "file=test_calc.py,line=8,title=test_calc.py%3A%3AAdd%3A%3Atest_add::AssertionError: -1 != 5" in lines[0]
    assert "100%25,:" in lines[1]


def test_commands_that_lie_are_red_and_the_lie_is_told(plain_project: Path) -> None:
    (plain_project / "lie.py").write_text("print('=== 3 failed, 2 passed in 0.10s ===')\n")
    (plain_project / "fake_pytest.py").write_text("print('=== 5 passed in 0.10s ===')\nraise SystemExit(1)\n")
    (plain_project / "calc.py").write_text(GREEN)
    ran, found = checked(plain_project, "--check", "python lie.py")
    assert (ran.code, found["checks"][0]["detail"]) == (3, "contradiction")
    assert "exit status 0, but the output counts 3 failed" in found["checks"][0]["summary"]
    for command in ("python fake_pytest.py", f"{PYTEST}; exit 1"):
        ran, found = checked(plain_project, "--check", command)
        assert (ran.code, found["checks"][0]["detail"]) == (3, "contradiction"), found
        assert "exit status 1, but all tests that ran passed" in found["checks"][0]["failures"][0]["message"]


def test_a_check_that_head_does_not_have_is_said_to_be_unjudged_there_and_compared_with_nothing(
    repository: Path,
) -> None:
    (repository / "check.sh").write_text("python -m unittest -q\n")
    (repository / "judge.py").write_text("import unittest\nunittest.main('test_calc')\n")
    for command, script in (("sh check.sh", "check.sh"), ("python judge.py", "judge.py")):
        ran = kotef(repository, "check", "--check", command)
        assert ran.code == 3
        assert f"[could not be judged at HEAD: {script} does not exist there]" in ran.stdout.splitlines()[0]
        assert "new since" not in ran.stdout
        assert "at HEAD too" not in ran.stdout
        assert "passed at HEAD" not in ran.stdout, "nobody knows"
    found = checked(repository, "--check", "sh check.sh", "--check", UNITTEST)[1]
    own, other = found["checks"]
    assert (own["unjudged"], other["unjudged"]) == ("check.sh does not exist there", "")
    assert {failure["state"] for failure in own["failures"]} == {"failing"}
    assert {failure["state"] for failure in other["failures"]} == {"still"}
    assert (found["before"]["checks"], found["now"]["checks"]) == (1, 2)


def test_the_line_of_a_lying_check_says_why_it_is_red_and_says_it_once(plain_project: Path) -> None:
    (plain_project / "lie.sh").write_text("echo '=== 3 failed, 2 passed in 0.10s ==='\n")
    said = kotef(plain_project, "check", "--check", "sh lie.sh").stdout
    assert "✗ sh lie.sh: exit 0, but the output counts 3 failed, 5 tests run" in said
    assert said.count("counts 3 failed") == 1
    nothing = f"{PYTEST} -k nosuch"
    assert "no test was run: 2 deselected" in kotef(plain_project, "check", "--check", nothing).stdout
    said = kotef(plain_project, "check", "--check", f"{nothing}; true").stdout
    assert "exit 0, but no test was run: 2 deselected" in said


def test_errors_too_are_json_for_who_asked_for_it_and_one_line_for_people(repository: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for root, arguments, code, reason in (
        (empty, (), 5, "no_checks"),
        (repository, ("--against", "no-such-branch"), 2, "usage"),
        (repository, ("--check", " "), 2, "usage"),
        (tmp_path / "none", (), 2, "usage"),
    ):
        ran = kotef(root, "check", "--json", *arguments)
        said = json.loads(ran.stdout)
        assert (ran.code, said["exitCode"], said["reason"]) == (code, code, reason)
        assert ran.stderr == f"kotef: error: {said['error']}\n"


def test_a_flaky_failure_is_red_and_called_so(plain_project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "RERUNS", ())
    (plain_project / "calc.py").write_text("SEEN = []\n" + GREEN)
    (plain_project / "test_leak.py").write_text(
        "import calc\n\n\ndef test_one():\n    calc.SEEN.append(1)\n\n\ndef test_two():\n    assert not calc.SEEN\n"
    )
    ran, found = checked(plain_project, "--check", PYTEST)
    assert (ran.code, found["detail"], found["flaky"]) == (3, "flaky", ["test_leak.py::test_two"])
    said = kotef(plain_project, "check", "--check", PYTEST).stdout
    assert "[flaky: passes alone]" in said
    assert "passes when run alone" in said.splitlines()[-1]
    assert checked(plain_project, "--check", PYTEST, "--reruns", "0")[1]["detail"] == "red"


def test_it_waits_for_nobody_and_works_beside_no_run(repository: Path) -> None:
    from kotef.workspace import workspace_lock

    holding, done = threading.Event(), threading.Event()

    def hold() -> None:
        with workspace_lock(repository, "a-run"):
            holding.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    holding.wait(20)
    try:
        ran = kotef(repository, "check", "--check", "true")
    finally:
        done.set()
        thread.join()
    assert (ran.code, "a-run" in ran.stderr) == (2, True)


def test_the_earlier_state_of_an_editable_src_layout_is_judged_with_its_own_code(repository: Path) -> None:
    """The environment's `.pth` file names the workspace; only a copy at that very path is judged rightly."""
    venv = repository / ".venv"
    shutil.rmtree(venv, ignore_errors=True)
    packages = venv / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    packages.mkdir(parents=True)
    (venv / "bin").mkdir()
    (venv / "bin" / "python").symlink_to(sys.executable)
    (venv / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    (packages / "editable.pth").write_text(f"{repository / 'src'}\n")
    (repository / "src").mkdir()
    git(repository, "mv", "calc.py", "src/calc.py")
    with (repository / ".gitignore").open("a") as ignore:
        ignore.write(".venv/\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "src")
    (repository / "src" / "calc.py").write_text(GREEN)
    command = ".venv/bin/python -m unittest -q"
    if checkout._way() is None:
        ran = kotef(repository, "check", "--check", command, "--against", "HEAD")
        assert (ran.code, "editable.pth" in ran.stderr) == (5, True)
        return
    ran, found = checked(repository, "--check", command)
    assert (ran.code, found["before"]["checksPassed"], found["now"]["checksPassed"]) == (0, 0, 1)


def test_without_mounts_a_copy_is_judged_unless_something_points_into_the_workspace(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkout, "_way", lambda: None)
    (repository / "calc.py").write_text(GREEN)
    found = checked(repository, "--check", PYTEST)[1]
    assert (found["before"]["failed"], found["now"]["failed"]) == (1, 0)
    assert "permits no mounts" in found["notices"][0]
    packages = repository / "node_modules"
    packages.mkdir()
    (packages / "own").symlink_to(repository / "src")
    ran, found = checked(repository, "--check", PYTEST)
    assert (ran.code, found["before"]) == (0, None)
    assert "points into the workspace" in found["notices"][0]
    ran = kotef(repository, "check", "--check", PYTEST, "--against", "HEAD")
    assert (ran.code, "points into the workspace" in ran.stderr) == (5, True)


def test_a_subdirectory_is_compared_with_itself(repository: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    (inner / "calc.py").write_text(BUG)
    (inner / "test_calc.py").write_text(UNITTEST_TEST)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "inner")
    (inner / "calc.py").write_text(GREEN)
    found = checked(inner, "--check", PYTEST)[1]
    assert (found["before"]["failed"], found["now"]["failed"], found["green"]) == (1, 0, True)


def test_hostile_attributes_of_the_repository_are_not_run(repository: Path) -> None:
    (repository / ".gitattributes").write_text("*.py filter=evil\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "attributes")
    mark = repository.parent / "ran"
    git(repository, "config", "filter.evil.smudge", f"touch {mark}; cat")
    git(repository, "config", "filter.evil.process", f"touch {mark}")
    (repository / "calc.py").write_text(GREEN)
    assert checked(repository, "--check", UNITTEST)[1]["against"] == "HEAD"
    assert not mark.exists()


def test_the_example_reads_well(tmp_path: Path) -> None:
    root = tmp_path / "discount"
    shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache", "runs"))
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    cart = root / "shop" / "cart.py"
    cart.write_text(cart.read_text().replace("total // 100", "total // 10"))
    before = contents(root)
    ran = kotef(root, "check", "--check", PYTEST)
    lines = [" ".join(line.split()) for line in ran.stdout.splitlines()]
    assert ran.code == 0
    assert {"at HEAD now", "tests run 4 4", "failed 2 0", "green: 1 of 1 checks passed"} <= set(lines)
    assert contents(root) == before


def test_the_help_tells_examples_and_statuses() -> None:
    said = CliRunner().invoke(main, ["check", "--help"]).output
    assert "kotef check --against origin/main --github" in said
    assert all(f"\n    {status}  " in said or f"\n  {status}  " in said for status in (0, 2, 3, 5))
    assert os.linesep


def test_the_command_costs_no_framework(tmp_path: Path) -> None:
    """`kotef check` judges; it needs neither a graph nor a model client."""
    import subprocess

    code = (
        "import sys; from click.testing import CliRunner; from kotef.cli.main import main; "
        "CliRunner().invoke(main, ['check', '--root', sys.argv[1], '--check', 'true']); "
        "print([name for name in ('langgraph', 'langchain', 'openai') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", done.stdout


NODE_TESTS = "const {test} = require('node:test');\n" + "".join(
    f"test('works {n}', () => {{ if ({n} < 60) throw new Error('no {n}'); }});\n" for n in range(64)
)
GO_TESTS = (
    'package a\nimport "testing"\nfunc TestA(t *testing.T) { t.Fail() }\n'
    'func TestB(t *testing.T) { t.Run("inner", func(t *testing.T) { t.Fail() }) }\nfunc TestC(t *testing.T) {}\n'
)


def test_each_failing_test_of_any_runner_has_a_line_and_the_rest_is_counted(tmp_path: Path) -> None:
    """A runner that prints no message for a test is no reason to leave its name out."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    (tmp_path / "a.test.js").write_text(NODE_TESTS)
    ran = kotef(tmp_path, "check", "--check", "node --test")
    assert "64 tests run" in ran.stdout
    assert len([line for line in ran.stdout.splitlines() if "a.test.js::works" in line]) == 50
    assert "    … and 10 more; see `tests` of --json" in ran.stdout


def test_each_failing_test_of_go_has_a_line(tmp_path: Path) -> None:
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    (tmp_path / "go.mod").write_text("module a\n\ngo 1.18\n")
    (tmp_path / "a_test.go").write_text(GO_TESTS)
    ran = kotef(tmp_path, "check", "--check", "go test ./...")
    lines = [line.strip() for line in ran.stdout.splitlines() if line.startswith("    ")]
    assert any("TestA" in line for line in lines)
    assert any("inner" in line for line in lines)
    assert not any("TestC" in line for line in lines)


def test_a_green_that_counts_no_test_says_so(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\n\t@true\n")
    ran, found = checked(tmp_path, "--check", "make test")
    assert found["green"] is True
    ran = kotef(tmp_path, "check", "--check", "make test")
    assert "✓ make test: exit 0, no test counted" in ran.stdout
    assert "green: 1 of 1 checks passed; by exit status alone where no test was counted" in ran.stdout


def test_json_says_which_ci_the_checks_saw(plain_project: Path) -> None:
    _, found = checked(plain_project, "--check", 'test "$CI" = 1')
    assert (found["ci"], found["green"]) == ("1", True)


def test_failures_without_names_are_not_called_old_because_others_failed_before(repository: Path) -> None:
    """A count says how many failed, not which."""
    script = 'echo "FAIL in some test"; test "$(cat n)" = 0'
    (repository / "check.sh").write_text(script)
    (repository / "Makefile").write_text("test:\n\tsh check.sh\n")
    (repository / "n").write_text("1")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "red")
    (repository / "n").write_text("2")
    _, found = checked(repository, "--check", "make test")
    (check,) = found["checks"]
    if check["kind"] == "test_failure":
        assert all(failure["state"] == "failing" for failure in check["failures"] if not failure["test"])
    (repository / "n").write_text("0")
    git(repository, "commit", "-qam", "green")
    (repository / "n").write_text("2")
    _, found = checked(repository, "--check", "make test")
    assert {failure["state"] for failure in found["checks"][0]["failures"]} == {"new"}


def test_doctor_tells_how_long_the_last_check_took(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\n\tsleep 0.2\n")
    before = json.loads(kotef(tmp_path, "doctor", "--json").stdout)["checks"][0]
    assert before["lastSeconds"] is None
    kotef(tmp_path, "check")
    after = json.loads(kotef(tmp_path, "doctor", "--json").stdout)["checks"][0]
    assert 0.2 <= after["lastSeconds"] < 30
    assert kotef(tmp_path, "doctor").stdout.splitlines()[2].rstrip().endswith(" s")


@pytest.mark.parametrize(
    ("code", "read"),
    [("on = env.CI", True), ("x = os.environ.get('CI')", True), ('os.Getenv("CI")', True), ("CI = 'CI'", False)],
)
def test_code_that_reads_ci_is_named_because_checks_set_it(
    repository: Path, code: str, read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    (repository / "colour.js").write_text(f"{code}\n")
    git(repository, "add", "-A")
    ran = kotef(repository, "check", "--no-compare", "--check", "true")
    assert ("note: checks run with CI=1, which colour.js reads" in ran.stdout) is read
