"""How does a test play a whole run? A scripted model behind real HTTP and kotef's own command line, in one process."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from click.testing import CliRunner
from support.openai_server import Call, OpenAIServer, Reply, Request, call, calls, status, text

from kotef.cli.main import main
from kotef.runs.store import runs_dir

BUG = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
TEST = """\
from calc import add

EXPECTED = [("test_add", add(2, 3), 5), ("test_nothing", add(0, 0), 0)]

print(f"1..{len(EXPECTED)}")
for number, (name, got, wanted) in enumerate(EXPECTED, 1):
    print("ok" if got == wanted else "not ok", number, "-", name)
    if got != wanted:
        print(f"# AssertionError: {got} != {wanted}")
raise SystemExit(any(got != wanted for _, got, wanted in EXPECTED))
"""
"""A test file that prints TAP: kotef reads it test by test, and it starts in a quarter of the time of unittest."""
CHECK = "python test_calc.py"
UNITTEST_TEST = """\
import unittest

from calc import add


class Add(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)

    def test_nothing(self):
        self.assertEqual(add(0, 0), 0)
"""
"""The same tests for the runner `UNITTEST`: for tests that are about a runner, its ids or its files."""
UNITTEST = "python -m unittest -q"
RERUNS = ("--reruns", "0")
"""What a test that names none asks for: a second run of each failure costs another run of the checks, and has tests
of its own."""
PYTEST = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q -p no:cacheprovider"
"""Starts in a third of the time: nothing is loaded that the machine happens to have."""


def git(root: Path, *arguments: str) -> str:
    """Run the real git."""
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def one_bug(root: Path, test: str = TEST) -> Path:
    """A git repository at `root` with one bug and the test that shows it."""
    for name, content in _repository(test):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    for name in ("hooks", "info", "objects/info", "objects/pack", "refs/tags"):
        (root / ".git" / name).mkdir(parents=True)
    return root


@cache
def _repository(test: str) -> tuple[tuple[str, bytes], ...]:
    """Path and content of each file of `one_bug`: git makes them once in a process, three of its processes for each."""
    with TemporaryDirectory() as place:
        root = Path(place)
        for name, text in {"calc.py": BUG, "test_calc.py": test, ".gitignore": "__pycache__/\n"}.items():
            (root / name).write_text(text)
        git(root, "init", "-q", "--template=")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "start")
        paths = [path for path in sorted(root.rglob("*")) if path.is_file()]
        return tuple((str(path.relative_to(root)), path.read_bytes()) for path in paths)


def states_of(root: Path) -> Path:
    """The folder with the state of a workspace's runs, for this process or for one with a home beside the workspace."""
    here = runs_dir(root)
    beside = (root.parent / "state", root.parent / "home" / "state", root.parent / "home" / ".local" / "state")
    places = (here, *(place / "kotef" / here.parent.name / "runs" for place in beside))
    return next((place for place in places if place.is_dir()), here)


@dataclass
class Ran:
    """What one command line did."""

    code: int
    stdout: str
    stderr: str
    root: Path
    server: OpenAIServer | None = None

    @property
    def run_dir(self) -> Path:
        """The newest run."""
        return max(states_of(self.root).glob("2*"))

    @property
    def record(self) -> Path:
        """The record of the newest run."""
        return self.root / ".sdd" / "runs" / self.run_dir.name

    @property
    def result(self) -> dict[str, Any]:
        """`result.json` of the newest run."""
        return json.loads((self.run_dir / "result.json").read_text())

    @property
    def events(self) -> list[dict[str, Any]]:
        """Every event of the newest run."""
        return [json.loads(line) for line in (self.run_dir / "events.jsonl").read_text().splitlines()]

    @property
    def issues(self) -> list[dict[str, Any]]:
        """The entries of `.sdd/issues.md`, read back."""
        from kotef.sdd.issue_markdown import parse_issues

        path = self.root / ".sdd" / "issues.md"
        if not path.exists():
            return []
        log = parse_issues(path.read_text())
        assert not log.problems
        return [entry.model_dump() for entry in log.entries]


def kotef(root: Path, *arguments: str) -> Ran:
    """Run kotef's command line in this process, in the workspace `root`."""
    command, *rest = arguments
    if command in {"run", "check"} and "--reruns" not in rest:
        rest = [*rest, *RERUNS]
    done = CliRunner().invoke(main, [command, "--root", str(root), *rest])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Ran(done.exit_code, done.stdout, done.stderr, root)


def edit(path: str, search: str, replace: str) -> Reply:
    """The coder looks at one file and changes it."""
    return calls(call("view_file", path=path), blind(path, search, replace))


def blind(path: str, search: str, replace: str) -> Call:
    """The edit alone."""
    return call("edit_file", path=path, edits=[{"search": search, "replace": replace}])


def write(path: str, content: str) -> Reply:
    """The coder writes one file."""
    return calls(call("write_file", path=path, content=content))


def plan(*steps: str, hypothesis: str = "", addresses: str = "", blocked: str = "") -> Reply:
    """The planner's answer."""
    made = [{"description": step, "files": ["calc.py"], "addresses": addresses} for step in steps]
    return calls(call("PlanAnswer", hypothesis=hypothesis, steps=made, blocked=blocked))


def review(*, accept: bool, reason: str = "") -> Reply:
    """The reviewer's answer."""
    return calls(call("ReviewAnswer", accept=accept, reason=reason))


def forgetful_coder(request: Request, *, fixes_at: int) -> Reply:
    """A coder without state: it acts on nothing but the conversation it is shown."""
    attempt = int(re.search(r"Attempt (\d+) of", request.text)[1])
    answered = sum(message["role"] == "tool" for message in request.messages)
    steps = [
        calls(call("run_command", command="echo attempt >> effects.log")),
        calls(call("write_file", path=f"notes{attempt}.txt", content=f"attempt {attempt}\n")),
    ]
    if attempt == fixes_at:
        steps.append(edit("calc.py", "a - b", "a + b"))
    return steps[answered] if answered < len(steps) else text("done")


def forgetful_agent(fixes_at: int):
    """An agent with that coder."""
    return lambda request, _: (
        plan("fix add") if "PlanAnswer" in request.tools else forgetful_coder(request, fixes_at=fixes_at)
    )


FIX = edit("calc.py", "a - b", "a + b")
DONE = text("I changed what the plan asks for.")


@dataclass
class Agent:
    """A scripted model: who is asked is told from the tools offered. What is asked beyond the script gets a 500."""

    coder: Sequence[Reply] = ()
    """Replies of the coder over all visits, in order."""
    planner: Callable[[Request, int], Reply] | Sequence[Reply] = field(
        default_factory=lambda: lambda _, number: plan("fix add", hypothesis=f"cause {number}")
    )
    reviewer: Sequence[Reply] = ()
    asked: dict[str, int] = field(default_factory=lambda: {"planner": 0, "coder": 0, "reviewer": 0})
    seen: list[tuple[str, Request]] = field(default_factory=list)

    def __call__(self, request: Request, _: int) -> Reply:
        """Answer one request."""
        tools = request.tools
        who = "planner" if "PlanAnswer" in tools else "reviewer" if "ReviewAnswer" in tools else "coder"
        number = self.asked[who]
        self.asked[who] += 1
        self.seen.append((who, request))
        script = {"planner": self.planner, "coder": self.coder, "reviewer": self.reviewer}[who]
        if callable(script):
            return script(request, number)
        return script[number] if number < len(script) else status(400, f"the script of the {who} is over")

    def requests(self, who: str) -> list[Request]:
        """What one of them was asked."""
        return [request for name, request in self.seen if name == who]


@contextmanager
def unchanged(root: Path, *but: str) -> Iterator[None]:
    """Hold that every file of the workspace is byte for byte as before, `.sdd` and the named ones aside."""
    before = contents(root)
    yield
    after = contents(root)
    assert {path: text for path, text in after.items() if path not in but} == {
        path: text for path, text in before.items() if path not in but
    }


def contents(root: Path) -> dict[str, bytes]:
    """Every file of a workspace but what kotef and git keep there."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not {".git", ".sdd", "__pycache__"}.intersection(path.relative_to(root).parts)
    }
