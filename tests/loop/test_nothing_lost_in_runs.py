"""A run that fails after its coder deleted everything leaves all as it was; one that is verified names what is gone."""

from pathlib import Path

import pytest
from support.belongings import CLEAN, belongings, furnish
from support.confined import need
from support.loop import CHECK, DONE, FIX, Agent, git
from support.openai_server import Reply, call, calls

ASKED = ("make add add", "--check", CHECK, "--max-attempts", "1")
EVERYTHING = "chmod -R u+rwx . 2>/dev/null; rm -rf * .[!.]*"
LEVELS = ("off", *(pytest.param(level, marks=pytest.mark.hostile) for level in ("bwrap", "landlock")))


def shell(root: Path, script: str) -> Reply:
    """A command that runs a script: the policy knows its words no more than it would those of a Makefile."""
    (root / ".scripts").mkdir(exist_ok=True)
    (root / ".scripts" / "all.sh").write_text(script)
    return calls(call("run_command", command="sh .scripts/all.sh"))


@pytest.mark.parametrize("level", LEVELS)
def test_a_failed_run_that_deleted_everything_leaves_all_as_it_was(
    project: Path, run, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if level != "off":
        need("landlock" if level == "landlock" else "bwrap", project)
    monkeypatch.setenv("KOTEF_SANDBOX", level)
    furnish(project)
    deleting = shell(project, EVERYTHING)
    before, head = belongings(project), git(project, "rev-parse", "HEAD")

    ran = run(project, Agent(coder=[deleting, DONE]), *ASKED)

    assert (ran.code, ran.result["outcome"]) == (3, "bounded_attempts_exceeded"), ran.stdout
    after = belongings(project)
    differ = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert differ <= {CLEAN, f"{CLEAN}/.git"}, ran.stdout
    assert git(project, "rev-parse", "HEAD") == head
    said = ran.stdout.replace("\n", " ")
    assert f"{CLEAN}/" in said, "what does not come back is named on the terminal"
    assert "all edits are undone" not in said
    assert "so the edits are undone, but 1 path named above" in said


def test_all_edits_are_undone_is_said_once_nothing_differs(project: Path, run) -> None:
    (project / ".gitignore").write_text("__pycache__/\n.env\n")
    (project / ".env").write_text("SECRET=1\n")
    (project / ".env").chmod(0o600)
    ran = run(project, Agent(coder=[shell(project, "echo x > .env; chmod 755 . ; rm -rf calc.py"), DONE]), *ASKED)
    assert (project / ".env").read_text() == "SECRET=1\n"
    said = ran.stdout.replace("\n", " ")
    assert "all edits are undone" in said
    assert "put back: .env; what stood there is in" in said


def test_a_verified_run_names_the_work_it_lost_on_the_terminal(project: Path, run) -> None:
    (project / "kept.py").write_text("uncommitted = 1\n")
    (project / ".gitignore").write_text("__pycache__/\n.env\n")
    (project / ".env").write_text("SECRET=1\n")
    ran = run(project, Agent(coder=[shell(project, "rm kept.py; echo x > .env"), FIX, DONE]), *ASKED)
    assert ran.result["outcome"] == "verified", ran.stdout
    said = " ".join(ran.stdout.split())
    assert "uncommitted work of before the run is gone from kept.py" in said
    assert "changed by the run outside of its snapshots (ignored by git, or in a repository inside): .env" in said
    assert f"kotef undo {ran.run_dir.name}" in said.replace("- ", "-")
