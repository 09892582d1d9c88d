"""Logins of hired agents: files handed over, and an agent that cannot log in."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.confined import need
from support.loop import CHECK, Ran, kotef

from kotef.coders.command.line import command_of

GOAL = "make add add"
TOKEN = "zq8J2mWx91LkTt55"


def agent(tmp_path: Path, code: str) -> str:
    file = tmp_path / "agent.py"
    file.write_text(f"import os, sys\nfrom pathlib import Path\n{code}")
    return f"{sys.executable} {file} {{brief}}"


def run(project: Path, command: str, *more: str) -> Ran:
    return kotef(project, "run", GOAL, "--check", CHECK, "--coder", command, *more)


def started(ran: Ran) -> int:
    return sum(event["event"] == "coder_started" for event in ran.events)


def test_an_agent_that_cannot_log_in_ends_the_run_after_its_first_try(project: Path, tmp_path: Path) -> None:
    ran = run(project, agent(tmp_path, "sys.exit('HTTP 401: Incorrect API key provided')"))
    assert (ran.code, ran.result["outcome"], ran.result["reason"]) == (7, "model_unavailable", "login_refused")
    assert ran.result["sentence"] == "command cannot log in: HTTP 401: Incorrect API key provided"
    assert (started(ran), ran.result["failureHistory"]["attempts"]) == (1, 0)
    judged = [event["visit"] for event in ran.events if event["event"] == "check_finished"]
    assert set(judged) == {0}, "what was left unchanged is not judged again"
    assert "--coder-file" in ran.issues[0]["follow_up"]


def test_what_an_agent_changed_before_its_login_was_refused_is_judged(project: Path, tmp_path: Path) -> None:
    code = "Path('calc.py').write_text('def add(a, b):\\n    return a + b\\n')\nsys.exit('HTTP 401: Unauthorized')"
    ran = run(project, agent(tmp_path, code))
    assert (ran.code, ran.result["outcome"]) == (0, "verified")


READS = """
home = Path(os.environ['HOME'])
login = home / '.agent' / 'auth.json'
text = login.read_text()
try:
    login.write_text('changed')
    print('it could be written')
except OSError:
    print('it cannot be written')
print('token', text)
print('others', (home / '.agent' / 'other.json').exists())
Path('calc.py').write_text('def add(a, b):\\n    return a + b\\n')
"""


def login_file() -> Path:
    file = Path(os.environ["HOME"]) / ".agent" / "auth.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"access_token": TOKEN}))
    (file.parent / "other.json").write_text("{}")
    return file


def shown_nowhere(ran: Ran) -> bool:
    kept = "".join(path.read_text(errors="replace") for path in ran.run_dir.rglob("*") if path.is_file())
    return TOKEN not in kept + ran.stdout + ran.stderr


def test_a_login_that_is_handed_over_is_read_only_at_its_place_and_shown_nowhere(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("bwrap", project)
    monkeypatch.setenv("KOTEF_SANDBOX", "bwrap")
    file = login_file()
    ran = run(project, agent(tmp_path, READS), "--coder-file", "~/.agent/auth.json")
    assert ran.code == 0, ran.result["attempts"]
    said = ran.result["attempts"][0]["said"]
    assert "it cannot be written" in said
    assert '{"access_token": "[secret:coder_file_0]"}' in said
    assert "others False" in said
    assert "~/.agent/auth.json (read-only)" in ran.stdout
    assert json.loads(file.read_text()) == {"access_token": TOKEN}
    assert shown_nowhere(ran)


def test_without_a_sandbox_the_secrets_of_the_file_are_known_too(project: Path, tmp_path: Path) -> None:
    file = login_file()
    ran = run(project, agent(tmp_path, f"print(Path({str(file)!r}).read_text())"), "--coder-file", str(file))
    assert "[secret:coder_file_0]" in ran.result["attempts"][0]["said"]
    assert shown_nowhere(ran)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--coder-file", "/no/such/file"), "--coder-file /no/such/file: no such file"),
        (("--coder-file", "/"), "--coder-file /: no such file"),
        (("--coder", "fixers", "--coder-file", "/etc/hostname"), "--coder-file: no coder of this run is a program"),
    ],
)
def test_a_file_that_cannot_be_handed_over_is_a_usage_error(project: Path, tmp_path: Path, more, words: str) -> None:
    ran = run(project, agent(tmp_path, ""), *more)
    assert ran.code == 2
    assert words in ran.stderr


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("url", ["", "http://localhost:8080/v1"])
def test_codex_gets_the_address_of_the_endpoint_as_configuration(tmp_path: Path, shell: str, url: str) -> None:
    """It ignores the variable OPENAI_BASE_URL."""
    codex = tmp_path / "codex"
    codex.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    codex.chmod(0o755)
    (tmp_path / "brief").touch()
    command = command_of(f"{codex} -m scripted")
    assert command is not None
    env = {"OPENAI_BASE_URL": url} if url else {}
    line = command.filled(tmp_path / "brief", tmp_path / "account")
    done = subprocess.run([shell, "-c", line], env={"PATH": "/usr/bin:/bin", **env}, capture_output=True, check=True)
    words = json.loads(done.stdout)
    settings = [word for at, word in enumerate(words) if words[at - 1] == "-c"]
    endpoint = f'{{name="endpoint",base_url="{url}",env_key="OPENAI_API_KEY",wire_api="responses"}}'
    assert settings == (["model_provider=endpoint", f"model_providers.endpoint={endpoint}"] if url else [])
    assert words[-3:] == ["-m", "scripted", "-"], "a person's own settings come later, so they count"
