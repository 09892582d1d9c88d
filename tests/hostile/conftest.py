"""A coder that does exactly what a script says, in a project of a few lines; everything else is real."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.loop import BUG, DONE, UNITTEST_TEST, Agent, Ran, git, kotef, write
from support.openai_server import OpenAIServer, call, calls

PRELUDE = """\
import json, os, shutil, subprocess, sys, time
from pathlib import Path

os.remove(__file__)


def w(path, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


"""


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """`play(files, script, check)`: one attempt of a coder whose whole work is to run `script`, a Python program."""

    def go(files: dict[str, str], script: str, check: str, *arguments: str, before: str = "") -> Ran:
        root = tmp_path / "project"
        root.mkdir()
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        (tmp_path / "tmp").mkdir()
        monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))  # a cheat may write into the directories of other runs
        monkeypatch.setattr(tempfile, "tempdir", None)
        base = {"calc.py": BUG, "test_calc.py": UNITTEST_TEST, ".gitignore": "__pycache__/\n*.egg-info/\n"}
        for path, content in (base | files).items():
            if content is not None:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                if content.startswith("link:"):
                    (root / path).symlink_to(content.removeprefix("link:"))
                else:
                    (root / path).write_text(content)
        exec(before, {"root": root, "git": git})
        git(root, "init", "-q")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "start")
        coder = [write("do_it.py", PRELUDE + script), calls(call("run_command", command="python do_it.py")), DONE]
        with OpenAIServer(Agent(coder=coder)) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            monkeypatch.setenv("KOTEF_MODEL", "scripted")
            options = ("--check", check, "--coder", "model", "--max-attempts", "1", *arguments)
            ran = kotef(root, "run", "make add add", *options)
        answers = [line for line in ran.events if line["event"] == "tool_finished"]
        assert all(line["ok"] for line in answers), "the coder could do what its script says"
        return ran

    return go


@pytest.fixture
def told() -> Callable[[Ran], str]:
    """Everything a reader of the result and of the issue entry is told about the failure."""

    def text(ran: Ran) -> str:
        return json.dumps(
            [ran.result["failureHistory"], ran.result.get("put_back", ran.result.get("putBack")), ran.issues]
        )

    return text
