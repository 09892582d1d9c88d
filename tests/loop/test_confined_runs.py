"""Whole runs in a sandbox: what every command of a run may touch, who says so, and how a run without one ends."""

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import mcp_server
from support.confined import need
from support.loop import CHECK, DONE, FIX, PYTEST, UNITTEST, Agent, Ran, calls, git, kotef
from support.openai_server import call

from kotef.sandbox import Level, levels

Run = Callable[..., Ran]

SUPPORT = Path(mcp_server.__file__).parent

LEVELS: list[Level] = ["bwrap", "landlock"]
each_level = pytest.mark.parametrize("level", LEVELS)

ANSWERS = """
import socket, sys
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2).close()
except ConnectionRefusedError:
    raise OSError(101, "Network is unreachable") from None
"""
"""Exits 0 only where this machine's ports can be reached; in bwrap the loopback is one of its own, and refuses."""


def configure(text: str) -> None:
    """Write the user's own configuration."""
    from kotef.runs.config import config_path

    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text(text)


@each_level
def test_every_command_of_a_run_is_confined_and_the_run_says_by_what(
    level: Level, project: Path, run: Run, tmp_path: Path
) -> None:
    """Baseline, the coder's own commands in front and in the background, its check runs and the verdict."""
    need(level, project)
    outside = tmp_path / "outside"
    outside.mkdir()
    check = f"touch {outside}/by-a-check; {CHECK}"
    agent = Agent(
        coder=[
            calls(call("run_command", command=f"touch {outside}/by-the-coder; echo tried")),
            calls(call("start_command", command=f"touch {outside}/in-the-background; echo tried")),
            calls(call("run_checks")),
            FIX,
            DONE,
        ]
    )
    done = run(project, agent, "fix add", "--check", check, "--sandbox", level)

    assert done.code == 0, done.stdout
    assert list(outside.iterdir()) == []
    assert f"sandbox: {level}, no network" in done.stdout
    started = done.events[0]
    assert (started["sandbox"], started["network"]) == (level, False)
    assert (done.result["sandbox"], done.result["network"]) == (level, False)
    assert f"| sandbox | {level} |" in (done.run_dir / "report.md").read_text()


def test_the_second_look_and_the_proof_of_a_new_test_are_confined_as_well(
    unittest_project: Path, run: Run, tmp_path: Path
) -> None:
    need("bwrap", unittest_project)
    outside = tmp_path / "outside"
    outside.mkdir()
    (unittest_project / ".gitignore").write_text("__pycache__/\nran.log\n")
    more = "from calc import add\n\n\ndef test_more():\n    assert add(1, 1) == 2\n"
    agent = Agent(
        coder=[
            FIX,
            calls(call("write_file", path="test_more.py", content=more)),
            calls(call("write_file", path="conftest.py", content="answer = 42\n")),
            DONE,
        ]
    )
    check = f"date >> {outside}/ran; date >> ran.log; {PYTEST}"
    done = run(unittest_project, agent, "fix add", "--check", check, "--sandbox", "bwrap")

    assert done.code == 0, done.stdout
    assert {"proving", "setting_aside"} <= {event["event"] for event in done.events}
    assert len((unittest_project / "ran.log").read_text().splitlines()) == 4, "baseline, verdict, proof, second look"
    assert list(outside.iterdir()) == []


def test_an_mcp_server_is_confined_with_the_network(project: Path, run: Run, tmp_path: Path) -> None:
    need("bwrap", project)
    outside = tmp_path / "outside"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        where = f"socket.create_connection(('127.0.0.1', {listening.getsockname()[1]}), 2)"
        server = f"sys.argv = ['s']; runpy.run_path('{mcp_server.__file__}', run_name='__main__')"
        started = f"import socket, runpy, sys; {where}; {server}"
        servers = {"tiny": {"command": sys.executable, "args": ["-c", started]}}
        (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
        touch = [calls(call("tiny__touch_file", path=str(path))) for path in (outside, "inside.txt")]
        agent = Agent(coder=[*touch, FIX, DONE])
        done = run(project, agent, "fix add", "--check", CHECK, "--mcp", "--sandbox", "bwrap", "--read", str(SUPPORT))

    assert done.code == 0, done.stdout
    assert not outside.exists()
    assert (project / "inside.txt").read_text() == "touched\n", "it was reached, and so had the network at its start"


def test_in_ci_a_run_without_any_level_runs_nothing_and_says_what_to_do(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CI", "1")
    monkeypatch.delenv("KOTEF_SANDBOX")
    monkeypatch.setattr(levels, "_missing", lambda level: f"{level} is not here")
    ran = tmp_path / "ran"
    agent = Agent(coder=[FIX, DONE])

    done = run(project, agent, "fix add", "--check", f"touch {ran}; {CHECK}")

    assert (done.code, done.result["outcome"], done.result["reason"]) == (5, "environment_broken", "no_sandbox")
    assert "apt-get install bubblewrap" in done.result["sentence"]
    assert "--sandbox off" in done.result["sentence"]
    assert done.result["sandbox"] == done.events[0]["sandbox"] == "none"
    assert [entry["outcome"] for entry in done.issues] == ["environment_broken"]
    assert not ran.exists()
    assert agent.seen == [], "no model was asked"

    again = run(project, agent, "--last", "--sandbox", "off", command="resume")

    assert again.code == 0, again.stdout
    assert again.result["sandbox"] == "off"
    assert len(again.issues) == 1


def test_out_of_ci_a_run_without_any_level_is_unconfined_and_says_so(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KOTEF_SANDBOX")
    monkeypatch.setattr(levels, "_missing", lambda level: f"{level} is not here")
    done = run(project, Agent(coder=[FIX, DONE]), "fix add", "--check", CHECK)

    assert (done.code, done.result["sandbox"]) == (0, "off")
    assert any("no sandbox" in notice and "install bubblewrap" in notice for notice in done.result["notices"])


def test_check_in_ci_without_any_level_is_one_line_and_status_5(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "1")
    monkeypatch.delenv("KOTEF_SANDBOX")
    monkeypatch.setattr(levels, "_missing", lambda level: f"{level} is not here")
    done = kotef(project, "check", "--check", CHECK)

    assert done.code == 5
    assert len(done.stderr.strip().splitlines()) == 1
    assert "install bubblewrap" in done.stderr


def test_a_check_that_lacks_the_network_ends_the_run_by_name_and_the_flag_mends_it(project: Path, run: Run) -> None:
    need("bwrap", project)
    (project / "ask.py").write_text(ANSWERS)
    git(project, "add", "-A")
    with socket.create_server(("127.0.0.1", 0)) as server:
        checks = ("--check", f"python ask.py {server.getsockname()[1]}", "--check", CHECK, "--sandbox", "bwrap")
        done = run(project, Agent(), "fix add", *checks)

        assert (done.code, done.result["reason"]) == (5, "network_denied")
        assert "--network" in done.result["sentence"]
        assert "--network" in (project / ".sdd" / "issues.md").read_text()
        assert done.server is not None
        assert not done.server.requests

        mended = run(project, Agent(coder=[FIX, DONE]), "fix add", *checks, "--network")

    assert mended.code == 0, mended.stdout
    assert mended.result["network"] is True
    assert mended.events[0]["network"] is True


def test_a_test_without_network_among_others_stays_a_failing_test_that_names_the_flag(unittest_project: Path) -> None:
    need("bwrap", unittest_project)
    (unittest_project / "test_calc.py").write_text(
        "import socket, unittest\n\n\nclass Net(unittest.TestCase):\n"
        "    def test_far(self):\n        socket.create_connection(('192.0.2.1', 80), 2)\n\n"
        "    def test_near(self):\n        self.assertEqual(1, 1)\n"
    )
    done = kotef(unittest_project, "check", "--check", UNITTEST, "--sandbox", "bwrap", "--no-compare", "--json")
    (check,) = json.loads(done.stdout)["checks"]

    assert done.code == 3
    assert check["kind"] == "test_failure"
    assert "Network is unreachable" in check["summary"]
    assert "--network" in check["summary"]


@pytest.mark.parametrize("level", ["bwrap", "landlock", "off"])
def test_check_compares_with_an_earlier_state_at_each_level(level: Level, project: Path, tmp_path: Path) -> None:
    """The earlier state is mounted, or copied, inside of the sandbox, and both are confined."""
    if level != "off":
        need(level, project)
    (project / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    outside = tmp_path / "outside"
    check = f"touch {outside}; {CHECK}"
    done = kotef(project, "check", "--check", check, "--sandbox", level, "--json")
    found = json.loads(done.stdout)

    assert done.code == 0, done.stdout
    assert (found["sandbox"], found["network"]) == (level, level == "off")
    assert found["against"] == "HEAD", found["notices"]
    assert found["before"]["checksPassed"] == 0, "the bug is there at HEAD"
    assert outside.exists() is (level == "off")
    assert (project / "calc.py").read_text().endswith("a + b\n")
    assert not (project / ".sdd").exists()


def test_check_takes_the_environment_of_the_workspace_into_the_earlier_state_in_the_sandbox(project: Path) -> None:
    need("bwrap", project)
    (project / ".sdd").mkdir()
    (project / ".sdd" / "note.md").write_text("newer than HEAD\n")
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "bin" / "judge").write_text(f"#!/bin/sh\n{CHECK}\n")
    (project / ".venv" / "bin" / "judge").chmod(0o755)
    (project / ".gitignore").write_text("__pycache__/\n.venv/\n")
    done = kotef(project, "check", "--check", ".venv/bin/judge", "--sandbox", "bwrap", "--json")
    (check,) = json.loads(done.stdout)["checks"]

    assert done.code == 3
    assert check["unjudged"] == ""
    assert json.loads(done.stdout)["before"]["checksPassed"] == 0


def test_a_baseline_of_another_level_or_network_is_not_taken_over(project: Path, run: Run) -> None:
    need("bwrap", project)

    def reused(*options: str) -> bool:
        done = run(project, Agent(coder=[DONE] * 9), "fix add", "--check", CHECK, "--max-attempts", "1", *options)
        return any(event["event"] == "baseline_reused" for event in done.events)

    assert not reused("--sandbox", "off")
    assert reused("--sandbox", "off")
    assert not reused("--sandbox", "bwrap")
    assert reused("--sandbox", "bwrap")
    assert not reused("--sandbox", "bwrap", "--network")


def test_the_users_configuration_gives_a_level_and_the_network(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("bwrap", project)
    monkeypatch.delenv("KOTEF_SANDBOX")
    configure('[sandbox]\nlevel = "bwrap"\nnetwork = true\n')
    done = run(project, Agent(coder=[FIX, DONE]), "fix add", "--check", CHECK)

    assert (done.result["sandbox"], done.result["network"]) == ("bwrap", True)

    (project / ".sdd" / "kotef.toml").write_text("[sandbox]\nnetwork = false\n")
    narrowed = run(project, Agent(coder=[DONE]), "fix add", "--check", CHECK, "--max-attempts", "1")

    assert narrowed.result["network"] is False, "a repository can narrow without being trusted"


def test_doctor_says_which_level_a_run_would_take(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("bwrap", project)
    assert "note    sandbox: off: as requested" in kotef(project, "doctor").stdout
    monkeypatch.delenv("KOTEF_SANDBOX")
    assert "sandbox: bwrap, no network" in kotef(project, "doctor").stdout

    monkeypatch.setattr(levels, "_missing", lambda level: f"{level} is not here")
    assert "note    sandbox: off: no sandbox" in kotef(project, "doctor").stdout

    monkeypatch.setenv("CI", "1")
    done = kotef(project, "doctor")
    assert done.code == 5
    assert "missing --sandbox auto: bwrap: bwrap is not here" in done.stdout


def test_a_strict_run_is_told_as_such(project: Path, run: Run) -> None:
    need("bwrap", project)
    done = run(project, Agent(coder=[FIX, DONE]), "fix add", "--check", CHECK, "--sandbox", "strict")

    assert (done.code, done.result["sandbox"]) == (0, "strict"), done.stdout
    assert "sandbox: strict, no network" in done.stdout


def test_a_red_check_without_network_says_which_flag_opens_it(project: Path) -> None:
    need("bwrap", project)
    red = kotef(project, "check", "--check", CHECK, "--sandbox", "bwrap", "--no-compare")

    assert "sandbox: bwrap, no network (--network allows it)" in red.stdout
    assert "(--network" not in kotef(project, "check", "--check", "true", "--sandbox", "bwrap", "--no-compare").stdout
