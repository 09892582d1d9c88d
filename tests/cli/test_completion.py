"""Does a shell get its completion script, and does what it asks for come at once?"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KOTEF = [sys.executable, "-m", "kotef"]


def asked(root: Path, *words: str) -> list[str]:
    """What bash is told for these words, the last of which is being typed; by the program itself."""
    env = os.environ | {
        "_KOTEF_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("kotef", *words)),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(KOTEF, cwd=root, env=env, capture_output=True, text=True, check=True)
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name in ("20260101-101010-aaaa", "20260202-101010-bbbb"):
        (root / ".sdd" / "runs" / name).mkdir(parents=True)
    for name in (".gitignore", "issues.lock"):
        (root / ".sdd" / "runs" / name).touch()
    tickets = root / ".sdd" / "backlog" / "tickets" / "open"
    tickets.mkdir(parents=True)
    (tickets / "07-a-cart.md").write_text("# A cart\n")
    (root / ".sdd" / "agents.md").write_text("# Roles\n\n## Test Writer\n\nWrites tests.\n")
    (root / "below").mkdir()
    return root


@pytest.mark.examples(2)
@pytest.mark.parametrize("command", ["show", "replay", "rejudge", "resume", "report"])
def test_runs_are_offered_the_newest_first(workspace: Path, command: str) -> None:
    assert asked(workspace / "below", command, "2026") == ["20260202-101010-bbbb", "20260101-101010-aaaa"]
    assert asked(workspace, command, "") == ["20260202-101010-bbbb", "20260101-101010-aaaa"]
    assert asked(workspace, command, "20260101") == ["20260101-101010-aaaa"]


def test_tickets_and_roles_are_offered(workspace: Path) -> None:
    assert asked(workspace, "run", "--ticket", "0") == ["07-a-cart"]
    assert asked(workspace, "run", "--agent", "") == ["coder", "test-writer"]


@pytest.mark.examples(3)
@pytest.mark.parametrize(
    "name", ["$(touch x)", "`id`", "a;id", "a b", "a'b", "-rf", "~x", "a&b", "a\u202eb", "{a,b}", "a|b"]
)
def test_a_name_with_shell_metacharacters_is_not_offered(workspace: Path, name: str) -> None:
    before = asked(workspace, "show", ""), asked(workspace, "run", "--ticket", "")
    (workspace / ".sdd" / "runs" / name).mkdir(parents=True)
    (workspace / ".sdd" / "backlog" / "tickets" / "open" / f"{name}.md").write_text("# x\n")
    assert (asked(workspace, "show", ""), asked(workspace, "run", "--ticket", "")) == before


def test_another_workspace_can_be_named(workspace: Path, tmp_path: Path) -> None:
    assert asked(tmp_path, "show", "--root", str(workspace), "20260202") == ["20260202-101010-bbbb"]


def test_where_there_is_nothing_nothing_is_offered(tmp_path: Path) -> None:
    assert asked(tmp_path, "show", "2026") == []


def test_nothing_heavy_is_imported_for_it(workspace: Path) -> None:
    code = (
        "import sys; from click.testing import CliRunner; from kotef.cli.main import main\n"
        "env = {'_KOTEF_COMPLETE': 'bash_complete', 'COMP_WORDS': 'kotef show 2026', 'COMP_CWORD': '2'}\n"
        "done = CliRunner().invoke(main, env=env, prog_name='kotef')\n"
        "print(done.output); print([n for n in ('pydantic', 'rich', 'langgraph', 'openai') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=workspace, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "20260202-101010-bbbb" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_asks_kotef(shell: str) -> None:
    done = subprocess.run([*KOTEF, "completion", shell], capture_output=True, text=True, check=True)
    assert f"_KOTEF_COMPLETE={shell}_complete" in done.stdout


def test_an_unknown_shell_is_one_line(tmp_path: Path) -> None:
    done = subprocess.run([*KOTEF, "completion", "tcsh"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_a_real_bash_completes_a_run(workspace: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "kotef").write_text(f'#!/bin/sh\nexec {sys.executable} -m kotef "$@"\n')
    (programs / "kotef").chmod(0o755)
    script = """\
source <(kotef completion bash)
complete -p kotef
COMP_WORDS=(kotef show 20260101) COMP_CWORD=2
_kotef_completion kotef
echo "${COMPREPLY[@]}"
"""
    env = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], cwd=workspace, env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "20260101-101010-aaaa"
