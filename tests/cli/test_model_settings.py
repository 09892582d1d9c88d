"""Which model is asked, and where, is decided by one precedence: every command gives the same answer."""

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.loop import DONE, Agent, git, kotef
from support.openai_server import OpenAIServer

from kotef.cli.main import main
from kotef.runs.config import _spoken

ORIGINS = ("environment", "user", "repository")
SETS = [chosen for size in (1, 2, 3) for chosen in combinations(ORIGINS, size)]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(Agent(coder=[DONE] * 9), models=[f"of-the-{origin}" for origin in ORIGINS]) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    (root / ".sdd").mkdir(parents=True)
    (root / "calc.py").write_text("ONE = 1\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    monkeypatch.delenv("KOTEF_MODEL", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return root


def set_up(root: Path, home: Path, chosen: tuple[str, ...], url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these origins names a model of its own and the same endpoint; the repository is trusted."""
    if "environment" in chosen:
        monkeypatch.setenv("KOTEF_MODEL", "of-the-environment")
        monkeypatch.setenv("OPENAI_BASE_URL", url)
    lines = {name: f'model = "of-the-{name}"\nbase_url = "{url}"\n' for name in chosen}
    (root / ".sdd" / "kotef.toml").write_text(lines.get("repository", "") + 'checks = ["false"]\n')
    (home / "kotef").mkdir(parents=True)
    trusted = f'[trusted]\n"{root}" = "{_spoken(root)}"\n'
    (home / "kotef" / "config.toml").write_text(lines.get("user", "") + trusted)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))


def printed(root: Path, *arguments: str) -> str:
    done = CliRunner().invoke(main, [*arguments, "--root", str(root), "--json"])
    return done.stdout


@pytest.mark.examples(3)
@pytest.mark.parametrize("chosen", SETS, ids="+".join)
def test_every_command_asks_the_same_model(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: OpenAIServer, chosen: tuple[str, ...]
) -> None:
    set_up(project, tmp_path / "config", chosen, server.base_url, monkeypatch)
    expected = f"of-the-{chosen[0]}"

    settings = {one["name"]: one["value"] for one in json.loads(printed(project, "config", "show"))["settings"]}
    assert (settings["model"], settings["base_url"]) == (expected, server.base_url)

    assert json.loads(printed(project, "prompt", "coder", "add one"))["model"] == expected

    findings = json.loads(printed(project, "doctor"))["findings"]
    assert any(expected in finding["text"] for finding in findings if finding["state"] == "ok"), findings

    ran = kotef(project, "run", "add one", "--max-attempts", "1", "--coder", "model")
    assert ran.events[0]["model"] == expected
    assert {request.body["model"] for request in server.requests} == {expected}


def test_an_option_comes_before_all_of_them(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: OpenAIServer
) -> None:
    set_up(project, tmp_path / "config", ORIGINS, server.base_url, monkeypatch)
    assert json.loads(printed(project, "prompt", "coder", "add one", "--model", "mine"))["model"] == "mine"
    findings = json.loads(printed(project, "doctor", "--model", "of-the-user"))["findings"]
    assert any("of-the-user" in finding["text"] for finding in findings)
