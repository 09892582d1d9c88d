"""`kotef check --against` tries out whether the judge of a branch can still say no; the workspace is only read."""

import json
from pathlib import Path

import pytest
from support.loop import BUG, FIXED, PYTEST, git, kotef

TEST = "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
ALWAYS_GREEN = """\
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    told = yield
    told.get_result().outcome = "passed"
"""
EQUAL = "from unittest.mock import ANY\n\n\ndef add(a, b):\n    return ANY\n"


@pytest.fixture
def branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a bug on main, with probes on."""
    monkeypatch.setenv("KOTEF_PROBES", "fast")
    for path, content in {"calc.py": BUG, "test_calc.py": TEST, ".gitignore": "__pycache__/\n"}.items():
        (tmp_path / path).write_text(content)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "start")
    git(tmp_path, "checkout", "-q", "-b", "change")
    return tmp_path


@pytest.mark.examples(1)
@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize(
    ("files", "judging"),
    [({"conftest.py": ALWAYS_GREEN}, ["conftest.py"]), ({"calc.py": EQUAL}, [])],
    ids=["hook", "equal to everything"],
)
def test_a_branch_that_weakened_the_judge_is_red_with_the_file(
    branch: Path, files: dict[str, str], judging: list[str], committed: bool
) -> None:
    for path, content in files.items():
        (branch / path).write_text(content)
    if committed:
        git(branch, "add", "-A")
        git(branch, "commit", "-q", "-m", "weaken")
    before = git(branch, "status", "--porcelain")

    done = kotef(branch, "check", "--against", "main", "--check", PYTEST, "--json")

    said = json.loads(done.stdout)
    assert (done.code, said["green"], said["detail"]) == (3, False, "judge_deaf")
    assert [probe["value"] for probe in said["probes"]] == ["alarm"]
    assert said["probes"][0]["evidence"][0].startswith("test_calc.py")
    assert said["judging"] == judging
    assert git(branch, "status", "--porcelain") == before
    assert (branch / "test_calc.py").read_text() == TEST


def test_an_honest_branch_stays_green_and_is_told_with_what_was_tried(branch: Path) -> None:
    (branch / "calc.py").write_text(FIXED)

    done = kotef(branch, "check", "--against", "main", "--check", PYTEST)

    assert done.code == 0
    assert "judge probed: 1 of 1 wrong answers refused" in done.stdout


def test_nothing_is_probed_without_a_commit_that_was_named(branch: Path) -> None:
    (branch / "calc.py").write_text(FIXED)

    assert "probed" not in kotef(branch, "check", "--check", PYTEST).stdout
    assert "probed" not in kotef(branch, "check", "--against", "main", "--probes", "off", "--check", PYTEST).stdout
