"""Planted secrets, and a run that comes upon them in every way: where do they end up? Nowhere."""

import base64
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.loop import BUG, DONE, FIX, FIXED, UNITTEST, Agent, Ran, blind, git, kotef, plan
from support.openai_server import OpenAIServer, Reply, Request, call, calls, status, text

OWN = "sk-live-own-9fJ2mXq7Lw0aVb3TzRk8"
ENVIRONMENT = "ghp_4Kq8ZpLx2NvR7sWd1YtB6mHc"
DOTENV = "wJalrXUtnFEMI-K7MDENG-bPxRfiCY"
PASSWORD = "Zq4-77.ppL+x/9"
CANARIES = {"OPENAI_API_KEY": OWN, "GITHUB_TOKEN": ENVIRONMENT, "AWS_SECRET": DOTENV, "DATABASE_URL": PASSWORD}
COMMIT = "9fceb02d0ae598e95dc970b74767f19372d61af8"

LEAKY = """\
import base64, sys, unittest
from pathlib import Path

from calc import add

SAID = Path("said.txt").read_text().split()


class Add(unittest.TestCase):
    def test_add(self):
        for secret in SAID:
            print(secret, repr(secret), secret.encode().hex())
            print(base64.b64encode(b"user:" + secret.encode()).decode(), file=sys.stderr)
            for at in range(0, len(secret), 5):
                print(secret[at : at + 5])
        print("HEAD is now at COMMIT, with changeme")
        self.assertEqual(add(2, 3), 5, " ".join(SAID))
""".replace("COMMIT", COMMIT)


@pytest.fixture
def project(unittest_project: Path) -> Path:
    """The tests here are about runners: their ids, their lines, their files."""
    return unittest_project


def forms(secret: str) -> Iterator[str]:
    """What of a secret must not be found, white space aside."""
    raw = secret.encode()
    yield secret
    yield raw.hex()
    for before in (b"", b"x", b"xx", b"user:"):
        yield base64.b64encode(before + raw).decode()[len(before) + 4 : -4]


def leaks(content: bytes) -> list[str]:
    bare = b"".join(content.split())
    return [name for name, secret in CANARIES.items() if any(form.encode() in bare for form in forms(secret))]


def found_below(folder: Path) -> dict[str, list[str]]:
    """Every file of the folder in which a canary stands, databases row by row as well."""
    found = {}
    for path in (path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        if path.suffix == ".sqlite":
            with sqlite3.connect(path) as database:
                tables = [name for (name,) in database.execute("select name from sqlite_master where type='table'")]
                rows = [row for table in tables for row in database.execute(f"select * from {table}")]
            content += b"\n".join(
                cell if isinstance(cell, bytes) else str(cell).encode() for row in rows for cell in row
            )
        if leaked := leaks(content):
            found[str(path.relative_to(folder))] = leaked
    return found


def nowhere(ran: Ran, agent: Agent | None = None) -> None:
    assert found_below(ran.root / ".sdd") == {}
    assert leaks(ran.stdout.encode()) == []
    assert leaks(ran.stderr.encode()) == []
    for _, request in agent.seen if agent else ():
        assert leaks(request.raw) == []


@pytest.fixture
def planted(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tiny project with secrets in `.env`, in the environment, and in a file of the project itself.

    The test reads them from a file outside of kotef's sight and prints them in every form.
    """
    monkeypatch.setenv("OPENAI_API_KEY", OWN)
    monkeypatch.setenv("GITHUB_TOKEN", ENVIRONMENT)
    (project / ".env.production").write_text(
        f"AWS_SECRET={DOTENV}\nDATABASE_URL=postgres://app:{PASSWORD}@db/app\nNODE_ENV=development\n"
    )
    (project / "test_calc.py").write_text(LEAKY.replace("said.txt", str(tmp_path / "said.txt")))
    (tmp_path / "said.txt").write_text(" ".join(CANARIES.values()))
    (project / "settings.py").write_text(f'TOKEN = "{ENVIRONMENT}"\nDEBUG = False\n')
    (project / "AGENTS.md").write_text(f"Use the token {ENVIRONMENT} for the service.\n")
    (project / ".gitignore").write_text("__pycache__/\n.env*\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "secrets")
    return project


def look(number: int, said: Path) -> Reply:
    """A model that looks wherever secrets may be."""
    script = [
        calls(call("view_file", path="settings.py"), call("grep", pattern="TOKEN")),
        calls(call("run_command", command=f"cat {said} .env.production; cat {said} | base64 -w 0; git log -p | cat")),
        calls(call("start_command", command=f"cat {said}; sleep 30")),
        calls(call("view_file", path=".env.production"), call("git_diff")),
        calls(call("run_checks")),
        calls(call("memory", action="write", content="nothing")),
        text(f"The token is {ENVIRONMENT}, and {base64.b64encode(OWN.encode()).decode()} too."),
    ]
    return script[number % len(script)]


def test_a_run_that_prints_secrets_in_every_form_leaves_none_anywhere(planted: Path, tmp_path: Path, run) -> None:
    agent = Agent(coder=lambda _, number: look(number, tmp_path / "said.txt"))
    goal = f"make add add, with {DOTENV}"
    ran = run(planted, agent, goal, "--check", UNITTEST, "--max-attempts", "1", "--json")
    assert ran.code == 3
    nowhere(ran, agent)
    logs = "".join(path.read_text() for path in ran.run_dir.glob("logs/*.log"))
    for name in CANARIES:
        assert f"[secret:{name}]" in logs
        assert f"[secret:{name}]" in agent.seen[-1][1].text
    assert COMMIT in logs, "what is none is left alone"
    assert "changeme" in logs
    assert "[secret:" in ran.issues[0]["entries"][0]["summary"]
    assert "[secret:AWS_SECRET]" in ran.issues[0]["goal"]
    assert ENVIRONMENT in (planted / "settings.py").read_text(), "files of the workspace are as they were"


def test_the_screen_shows_none_either(planted: Path, tmp_path: Path, run) -> None:
    script = [calls(call("run_command", command=f"cat {tmp_path}/said.txt; echo {OWN}")), text("done")]
    agent = Agent(coder=script, planner=lambda *_: plan(f"use {OWN}"))
    ran = run(planted, agent, f"make add add, with {DOTENV}", "--check", UNITTEST, "--max-attempts", "1")
    nowhere(ran, agent)
    assert "1. use [secret:OPENAI_API_KEY]" in ran.stdout


def edited(path: str, search: str, replace: str) -> Reply:
    return calls(call("view_file", path=path), blind(path, search, replace))


def test_a_file_that_holds_a_secret_is_edited_and_keeps_it(planted: Path, run) -> None:
    marked = 'TOKEN = "[secret:GITHUB_TOKEN]"'
    script = [edited("settings.py", f"{marked}\nDEBUG = False", f"DEBUG = True\n{marked}"), FIX, DONE]
    agent = Agent(coder=script)
    ran = run(planted, agent, "make add add", "--check", "python -c 'import calc; assert calc.add(2, 3) == 5'")
    assert ran.result["outcome"] == "verified"
    assert (planted / "settings.py").read_text() == f'DEBUG = True\nTOKEN = "{ENVIRONMENT}"\n'
    assert marked in agent.requests("coder")[1].text
    patch = next(iter(ran.run_dir.glob("visit-1.patch"))).read_text()
    assert ENVIRONMENT in patch, "a patch is the user's own file, exact, or it could not be applied"


@pytest.mark.examples(1)
@pytest.mark.parametrize(
    "reply",
    [
        calls(call("write_file", path="new.py", content='TOKEN = "[secret:GITHUB_TOKEN]"\n')),
        edited("calc.py", "a - b", '"[secret:GITHUB_TOKEN]"'),
        calls(call("write_file", path="new.py", content=f'TOKEN = "{ENVIRONMENT}"\n')),
    ],
    ids=["new file", "edit", "the value itself"],
)
def test_a_mark_that_stands_for_nothing_in_a_file_is_refused(planted: Path, run, reply: Reply) -> None:
    agent = Agent(coder=[reply, FIX, DONE])
    ran = run(planted, agent, "make add add", "--check", "python -c 'import calc; assert calc.add(2, 3) == 5'")
    assert "replaces a value that you may not see" in agent.requests("coder")[1].text
    assert not (planted / "new.py").exists()
    assert (planted / "calc.py").read_text() == FIXED
    assert ran.code == 0
    nowhere(ran, agent)


@pytest.mark.examples(1)
@pytest.mark.parametrize("http", [400, 401, 500])
def test_an_endpoint_that_echoes_the_key_does_not_bring_it_in(planted: Path, run, monkeypatch, http: int) -> None:
    monkeypatch.setattr("kotef.models.errors.MAX_BACKOFF", 0.01)
    filler = "x" * 180

    def script(request: Request, _: int) -> Reply:
        return status(http, f"Incorrect key {request.headers['authorization']} {filler} {OWN}")

    ran = run(planted, script, "make add add", "--check", UNITTEST, "--json")
    assert ran.result["outcome"] == "model_unavailable"
    nowhere(ran)
    assert "[secret:OPENAI_API_KEY]" in ran.result["sentence"]


def test_a_check_that_holds_a_secret_is_refused(planted: Path, run) -> None:
    ran = run(planted, Agent(), "make add add", "--check", f"curl -H 'Authorization: {ENVIRONMENT}' localhost")
    assert ran.code == 2
    assert "[secret:GITHUB_TOKEN]` holds" not in ran.stderr
    assert "contains the value of a secret" in ran.stderr
    assert not (planted / ".sdd").exists()
    nowhere(ran)


def test_a_plan_and_a_review_that_name_a_secret_are_kept_without_it(planted: Path, run) -> None:
    agent = Agent(coder=[text("done")], planner=lambda *_: plan(f"use {OWN}", hypothesis=f"it is {ENVIRONMENT}"))
    ran = run(planted, agent, "make add add", "--check", UNITTEST, "--max-attempts", "1")
    nowhere(ran, agent)
    assert "[secret:OPENAI_API_KEY]" in (ran.run_dir / "events.jsonl").read_text()


def test_a_defect_of_kotef_leaves_a_traceback_without_secrets(planted: Path, run, monkeypatch) -> None:
    async def broken(*_: Any) -> None:
        raise ValueError(f"broken by {OWN}")

    monkeypatch.setattr("kotef.coders.model.ModelCoder.work", broken)
    ran = run(planted, Agent(), "make add add", "--check", UNITTEST, "--json")
    assert ran.code == 1
    nowhere(ran)
    assert "broken by [secret:OPENAI_API_KEY]" in (ran.run_dir / "traceback.txt").read_text()
    assert json.loads(ran.stdout)["sentence"].endswith("[secret:OPENAI_API_KEY]")


def test_a_run_without_secrets_says_what_it_says(project: Path, run) -> None:
    (project / ".env.example").write_text(f"AWS_SECRET={DOTENV}\n")
    (project / "calc.py").write_text(f"{BUG}# {DOTENV} {COMMIT}\n")
    agent = Agent(coder=[FIX, DONE])
    ran = run(project, agent, "make add add", "--check", UNITTEST)
    assert ran.code == 0
    assert DOTENV in agent.requests("coder")[1].text, "a sample is for everybody to read"
    assert "[secret:" not in "".join(request.text for _, request in agent.seen)


def test_the_commands_that_only_look_show_none(planted: Path) -> None:
    for arguments in (
        ("check", "--check", UNITTEST, "--no-compare"),
        ("check", "--check", UNITTEST, "--no-compare", "--json"),
        ("prompt", "coder", f"make add add with {OWN}"),
    ):
        ran = kotef(planted, *arguments)
        assert leaks((ran.stdout + ran.stderr).encode()) == []
        assert "[secret:" in ran.stdout, arguments


def test_what_steers_a_terminal_does_not_reach_it(project: Path, run) -> None:
    evil = "\x1b]0;title\x07\x9b31m\u202e"
    agent = Agent(coder=[text(f"done {evil}")], planner=lambda *_: plan(f"fix {evil}", hypothesis=evil))
    ran = run(project, agent, f"make add add {evil}", "--check", UNITTEST, "--max-attempts", "1")
    as_json = run(project, agent, f"make add add {evil}", "--check", UNITTEST, "--max-attempts", "1", "--json")
    refused = kotef(project, "run", f"goal {evil}", "--ticket", f"none {evil}")
    for done in (ran, as_json, refused):
        assert not set(evil) & set("\x1b\x07\x9b\u202e") & set(done.stdout + done.stderr)
    assert evil in json.loads(as_json.stdout)["goal"], "nothing of it is lost"


def test_a_password_in_the_address_of_the_endpoint_is_kept_nowhere(project: Path) -> None:
    """It was hidden only where the environment held that address as well."""
    password = "Zq7-tUlip-93x"
    with OpenAIServer(Agent(coder=[FIX, DONE])) as server:
        url = server.base_url.replace("://", f"://me:{password}@")
        ran = kotef(
            project,
            "run",
            "make add add",
            "--check",
            UNITTEST,
            "--model",
            "scripted",
            "--base-url",
            url,
            "--coder",
            "model",
        )
    assert ran.code == 0, ran.stderr
    kept = b"".join(path.read_bytes() for path in (project / ".sdd").rglob("*") if path.is_file())
    assert password not in ran.stdout + ran.stderr
    assert password.encode() not in kept
