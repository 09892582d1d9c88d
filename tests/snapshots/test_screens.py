"""What a person sees of each command on a tiny project, word for word but for times, run ids and places.

RENEW=1 python -m pytest tests/snapshots writes the files anew.
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.documents import normal
from support.loop import BUG, DONE, FIX, UNITTEST, UNITTEST_TEST, Agent, blind, edit, git, plan, review
from support.openai_server import OpenAIServer, calls

from kotef.cli.main import main

SCREENS = Path(__file__).parent / "screens"
RUN = ("run", "make add add", "--check", UNITTEST)
MODEL = ("--coder", "model", "--model", "scripted")
WRONG = edit("calc.py", "a - b", "a * b")
YES = review(accept=True)
TICKET = """\
# Ticket: 01 Addition adds

## Objective & DoD

`add` adds.

- [ ] `test_add` passes

## Tests

```bash
python -m unittest -q
```
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".sdd" / "backlog" / "tickets" / "open").mkdir(parents=True)
    (root / "calc.py").write_text(BUG)
    (root / "test_calc.py").write_text(UNITTEST_TEST)
    (root / ".gitignore").write_text("__pycache__/\n")
    (root / ".sdd" / "backlog" / "tickets" / "open" / "01-add.md").write_text(TICKET)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    return root


class Story:
    """One command after the other in one project; all that is not as recorded is told at the end."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.monkeypatch = root, monkeypatch
        self.changed: list[str] = []
        monkeypatch.chdir(root)
        monkeypatch.setenv("COLUMNS", "120")

    def shows(self, name: str, arguments: Sequence[str], *, agent: Agent | None = None, status: int = 0) -> str:
        """The screen of `arguments` is that of the file `name`."""
        if agent is None:
            done = CliRunner().invoke(main, arguments, prog_name="kotef")
        else:
            with OpenAIServer(agent) as server:
                self.monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
                done = CliRunner().invoke(main, arguments, prog_name="kotef")
            self.monkeypatch.delenv("OPENAI_BASE_URL")
        assert done.exit_code == status, done.output
        error = f"\n-- on stderr --\n{done.stderr}" if done.stderr else ""
        shown = " ".join(word if re.fullmatch(r"[\w./:=-]+", word) else f'"{word}"' for word in arguments)
        text = self._same(f"$ kotef {shown}\n{done.stdout}{error}[exit status {status}]\n")
        file = SCREENS / f"{name}.txt"
        if os.environ.get("RENEW"):
            SCREENS.mkdir(exist_ok=True)
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            self.changed.append(f"{name} has changed; it is now\n{text}")
        return done.stdout

    def _same(self, text: str) -> str:
        home = os.environ["HOME"]
        for place, word in ((str(self.root.resolve()), "PLACE"), (home, "~")):
            text = text.replace(place, word)
        text = re.sub(r"^(\s*|.*\()\d+\.\d+(?= (?:s|seconds)\b)", r"\1N", text, flags=re.MULTILINE)
        text = re.sub(r"\b[0-9a-f]{12,64}\b", "HASH", text)
        text = re.sub(r"\bstarts +last run", "starts  last run", re.sub(r"\bpytest \d[\w.]*", "pytest N", text))
        text = re.sub(r"\b\d+(?:\.\d+)? MB\b", "N MB", text)
        text = re.sub(r"(?<=\| seconds \| )\S+", "N", text)
        text = re.sub(r"\(test_calc\.py:8, \S*(?:…|\))", "(test_calc.py:8, …", text)  # cut where the place is long
        return normal(text)

    def is_as_recorded(self) -> None:
        assert not self.changed, "\n".join(
            (*self.changed, "if that was meant: RENEW=1 python -m pytest tests/snapshots")
        )


@pytest.fixture
def story(project: Path, monkeypatch: pytest.MonkeyPatch) -> Story:
    return Story(project, monkeypatch)


def test_a_verified_run_and_what_can_be_asked_of_it(story: Story) -> None:
    story.shows("run-nothing-named", ["run"], status=2)
    story.shows("run-verified", ["run", "--ticket", "01", *MODEL], agent=Agent(coder=[FIX, DONE], reviewer=[YES]))
    story.shows("show", ["show"])
    story.shows("report", ["report"])
    story.shows("replay", ["replay"])
    story.shows("diff", ["diff"])
    story.shows("diff-stat", ["diff", "--stat"])
    story.shows("resume-done", ["resume", "--last"], status=2)
    story.shows("undo", ["undo", "--last"])
    story.shows("apply", ["apply", "--last", "--attempt", "1"])
    story.shows("runs", ["runs"])
    story.shows("runs-prune", ["runs", "prune", "--dry-run"])
    story.is_as_recorded()


def test_a_bounded_run_its_entry_and_how_it_goes_on(story: Story) -> None:
    story.shows("issues-none", ["issues"])
    wrong = [WRONG, DONE, calls(blind("calc.py", "a * b", "a ** b")), DONE]
    story.shows("run-bounded", [*RUN, *MODEL, "--max-attempts", "1"], agent=Agent(coder=wrong), status=3)
    story.shows("issues", ["issues"])
    story.shows("issues-show", ["issues", "show", "2"])
    story.shows("issues-github", ["issues", "show", "2", "--format", "github"])
    story.shows("resume-bounded", ["resume", "--last", "--max-attempts", "2"], agent=Agent(coder=[FIX, DONE]))
    story.shows("issues-resolved", ["issues", "list", "--state", "resolved"])
    story.shows("watch", ["watch"])
    story.shows("stats", ["stats"])
    story.shows("rejudge", ["rejudge"])
    story.shows("issues-reopen", ["issues", "reopen", "2"])
    story.is_as_recorded()


def test_a_blocked_run(story: Story) -> None:
    refused = Agent(planner=[plan(blocked="the test wants what the README forbids")])
    story.shows("run-blocked", [*RUN, *MODEL], agent=refused, status=6)
    story.is_as_recorded()


def test_a_run_without_a_model(story: Story) -> None:
    (story.root / "calc.py").write_text("def add(first, second):\n    return first + secnod\n")
    story.shows("run-fixers", [*RUN, "--coder", "fixers"])
    story.is_as_recorded()


def test_what_judges_and_tells_without_a_run(story: Story) -> None:
    story.shows("check-red", ["check", "--check", UNITTEST, "--no-compare"], status=3)
    story.shows("check-github", ["check", "--check", UNITTEST, "--no-compare", "--github"], status=3)
    (story.root / "out.txt").write_text("calc.py:2: error: Incompatible return value type  [return-value]\n")
    story.shows("classify", ["classify", "out.txt", "--command", "mypy .", "--exit-code", "1"])
    story.shows("classify-json", ["classify", "out.txt", "--command", "mypy .", "--exit-code", "1", "--json"])
    (story.root / "calc.py").write_text(BUG.replace("-", "+"))
    story.shows("check-green", ["check", "--check", UNITTEST])
    story.is_as_recorded()


def test_what_a_person_looks_at_before_a_run(story: Story) -> None:
    story.shows("init", ["init"])
    for command in ("agents", "skills", "tools", "runs", "graph"):
        story.shows(command if command != "runs" else "runs-none", [command])
    story.shows("prompt-coder", ["prompt", "coder", "make add add", "--check", UNITTEST])
    story.shows("prompt-planner", ["prompt", "planner", "make add add", "--check", UNITTEST])
    story.shows("mcp-doctor", ["mcp", "doctor"])
    story.shows("schema", ["schema", "result"])
    for topic in ("environment", "files", "exit-statuses"):
        story.shows(f"help-{topic}", ["help", topic])
    story.is_as_recorded()


def test_what_is_set_and_known_here(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    (story.root / ".sdd" / "backlog" / "tickets" / "open" / "02-sub.md").write_text("# Ticket: 02 Subtraction\n")
    story.shows("spec-lint", ["spec", "lint"], status=3)
    story.shows("config-show", ["config", "show"])
    monkeypatch.setenv("PATH", str(story.root))
    story.shows("coders", ["coders"])
    story.is_as_recorded()


def test_what_a_run_needs_here(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOTEF_SANDBOX", "off")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    story.shows("doctor", ["doctor"])
    story.shows("doctor-with-endpoint", ["doctor", "--model", "scripted"], agent=Agent())
    story.is_as_recorded()


ERRORS = {
    "error-attempts": [*RUN, "--max-attempts", "0"],
    "error-ticket": ["run", "--ticket", "99"],
    "error-coder": [*RUN, "--coder", "modle"],
    "error-run": ["show", "20260131"],
    "error-option": ["run", "--chekc", "x"],
    "error-root": ["runs", "--root", "nowhere"],
    "error-command": ["rum"],
    "error-shell": ["completion", "tcsh"],
    "error-range": ["run", "--max-attempts", "70"],
}


def test_errors_are_one_line_and_with_json_one_object(story: Story) -> None:
    for name, arguments in ERRORS.items():
        story.shows(name, arguments, status=2)
        if name not in ("error-command", "error-option", "error-shell", "error-range"):
            story.shows(f"{name}-json", [*arguments, "--json"], status=2)
    story.is_as_recorded()


def test_every_command_has_a_screen() -> None:
    shown = {word for file in SCREENS.glob("*.txt") for word in file.read_text().split()[2:3]}
    assert set(main.commands) - shown == {"demo"}, "its screen is held by tests/cli/test_demo.py"
