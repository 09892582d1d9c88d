"""What `kotef coders` tells of the agents that can be hired."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kotef.cli.main import main
from kotef.coders.command.presets import PRESETS


def tell(*arguments: str) -> str:
    done = CliRunner().invoke(main, ["coders", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_each_agent_is_listed_with_what_it_gets_and_whether_it_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "codex").write_text("#!/bin/sh\n")
    (tmp_path / "codex").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-somebody-4711")
    said = tell()
    assert f"codex  ({tmp_path}/codex)" in said
    assert "aider  (not installed)" in said
    assert "codex exec --dangerously-bypass-approvals-and-sandbox" in said
    assert "~/.codex/auth.json (shared)" in said
    assert "set here: OPENAI_API_KEY" in said
    assert "4711" not in said


def test_a_script_gets_the_table_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    rows = json.loads(tell("--json"))
    assert [row["name"] for row in rows] == [*PRESETS]
    assert all(row["installed"] is None and "{brief" in row["command"] for row in rows)
