"""`kotef doctor --sandbox` tells level by level what a command can do, in words or as JSON, and the way out."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from kotef.cli.main import main
from kotef.sandbox import levels
from kotef.sandbox.landlock import abi


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    root.mkdir()
    return root


def _doctor(root: Path, *options: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["doctor", "--sandbox", "--root", str(root), *options], catch_exceptions=False)
    return done.exit_code, done.stdout


def test_each_level_is_told_in_words(workspace: Path) -> None:
    status, said = _doctor(workspace)

    older = [line for line in said.splitlines() if "abstract" in line or "the same with" in line]
    words = " ".join(" ".join(line for line in said.splitlines() if abi() >= 6 or line not in older).split())
    for level in ("bwrap:", "landlock:", "strict:", "off:"):
        assert level in words
    assert status == 0 or "not available" in words
    assert "POSSIBLE" not in words or "not available" in words
    assert not list(workspace.iterdir()), "trying leaves nothing in the workspace"


def test_a_program_gets_the_same_as_one_object(workspace: Path) -> None:
    status, said = _doctor(workspace, "--json")

    told = json.loads(said)
    assert set(told["levels"]) == {"bwrap", "landlock"}
    for facts in told["levels"].values():
        if facts["holds"]:
            assert facts["possible"]["write"]
            assert not any(facts["possible"][deed] for deed in ("escape", "change", "connect", "peek", "stop", "tune"))
        else:
            assert facts["why_not"]
    assert told["auto"] in {"bwrap", "landlock", "off", None}
    assert status == (0 if any(facts["holds"] for facts in told["levels"].values()) else 5)


def test_what_is_missing_is_named_with_the_way_to_get_it(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "bubblewrap", lambda: None)
    told = json.loads(_doctor(workspace, "--json")[1])

    assert told["levels"]["bwrap"]["why_not"] == "bwrap is not installed"
    assert "apt-get install bubblewrap" in told["levels"]["bwrap"]["way_out"]


def test_where_nothing_holds_the_status_says_so_and_ci_gets_no_sandbox(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "bubblewrap", lambda: None)
    monkeypatch.setattr(levels.landlock, "abi", lambda: 0)
    monkeypatch.setenv("CI", "1")
    status, said = _doctor(workspace, "--json")

    assert status == 5
    assert json.loads(said)["auto"] is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_workspace_of_somebody_else_has_a_way_out(workspace: Path) -> None:
    os.chown(workspace, 65534, 65534)
    status, said = _doctor(workspace)

    assert status == 5 or "not available" not in said
    assert "run kotef as the owner of the workspace" in " ".join(said.split())


@pytest.mark.parametrize("columns", ["80", "100"])
def test_the_doctor_shows_what_commands_may_write_and_what_the_checks_see(
    columns: str, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    (workspace / "node_modules" / "x").mkdir(parents=True)
    told = json.loads(_doctor(workspace, "--json")[1])
    said = _doctor(workspace)[1]

    assert "commands may write" in said
    assert "the checks see" in said
    assert all(len(line) <= int(columns) for line in said[said.index("commands may write") :].splitlines())
    rows = {row["what"]: (row["commands"], row["checks"]) for row in told["rooms"]}
    assert "installed: node_modules" in rows
    if told["auto"] == "bwrap":
        assert rows["installed: node_modules"] == ("no (--allow-install opens them)", "as before the run")
