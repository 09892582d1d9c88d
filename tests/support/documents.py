"""What does a page of the documentation promise, and how is it tried as a reader would?

A page is one session at a terminal: its blocks run in order, in a fresh copy of an example project, by real bash.

* `bash`, `sh`      run; a `text` block behind it is what they print
* `console`         lines behind `$ ` run, the lines below are what they print
* `python`          run by the interpreter of the tests
* `diff`            with `file:`: the change is made; else what the block before prints
* `toml json yaml`  parsed, and read by what reads that file
* `markdown`        read as a ticket where it is one
* `mermaid`         is what `kotef graph` prints

In what is printed, a line `…` stands for any lines; times, run ids and places may differ. HTML comments right before a
block say what cannot be seen from it:

    <!-- not run: REASON -->      not run, and counted in tests/docs/not_run.txt
    <!-- by hand: MARKER -->      run by `python -m pytest -m MARKER` alone: docs (slow), install (needs the network)
    <!-- in: PROJECT -->          from here on in that project: shop, clock, empty, kotef (a copy of the checkout), team (a
                                 package for an environment of kotef's own, in which `pip` installs from then on)
    <!-- file: PATH -->           the block is the content of this file, from here on
    <!-- with: ENDPOINT -->       from here on a scripted model answers at every `http://localhost:PORT/v1`
    <!-- before: COMMAND -->      typed before the block: what a reader has who comes to this page
    <!-- exits: N -->             the exit status of the block
"""

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from support.endpoints import ENDPOINTS
from support.kotef_program import KotefProgram
from support.openai_server import OpenAIServer
from support.own_environment import OwnEnvironment

ROOT: Final = Path(__file__).parents[2]
DIRECTIVES: Final = ("not run", "by hand", "in", "file", "with", "before", "exits")
PROJECTS: Final = {"shop": "discount", "clock": "contradiction"}
"""Name in the home directory → example."""

_FENCE: Final = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[\w+-]*)[^`\n]*$")
_COMMENT: Final = re.compile(r"^\s*<!-- (?P<name>[a-z ]+?)(?:: (?P<value>.+?))? -->$")
_LOCAL: Final = re.compile(r"https?://(?:localhost|127\.0\.0\.1):\d+(?=/v1)")
SECONDS: Final = 900
"""What one block may take on a busy machine."""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: str
    line: int
    language: str
    text: str
    told: dict[str, str] = field(default_factory=dict)
    """The directives before it."""

    @property
    def where(self) -> str:
        """For messages."""
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    """Every page a reader of the documentation meets."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page; AssertionError for a directive nobody knows, or that stands before nothing."""
    name = str(page.relative_to(ROOT))
    found, told = list[Block](), dict[str, str]()
    lines = iter(enumerate(page.read_text().splitlines(), 1))
    for number, line in lines:
        if (comment := _COMMENT.match(line)) and comment["name"] in DIRECTIVES:
            assert comment["value"], f"{name}:{number}: `{comment['name']}` says nothing"
            told[comment["name"]] = comment["value"]
        elif fence := _FENCE.match(line):
            inside = []
            for _, inner in lines:
                if inner.strip() == fence["fence"]:
                    break
                inside.append(inner.removeprefix(fence["indent"]))
            else:
                raise AssertionError(f"{name}:{number}: the block has no end")
            text = "".join(f"{inner}\n" for inner in inside)
            found.append(Block(name, number, fence["language"], text, told))
            told = {}
        elif line.strip():
            assert not told, f"{name}:{number}: a directive stands right before a block, not before {line!r}"
    return found


@dataclass
class Session:
    """A reader who types what the page says, from its first block to its last."""

    home: Path
    place: Path = field(init=False)
    printed: str = ""
    """What the last block that ran has printed."""
    environment: dict[str, str] = field(default_factory=dict)
    server: OpenAIServer | None = None
    _opened: list[AbstractContextManager[Any]] = field(default_factory=list)
    _program: KotefProgram | None = None
    _own: OwnEnvironment | None = None

    def __post_init__(self) -> None:
        """A terminal with nothing of the machine's in it, in the example shop."""
        drop = ("XDG_", "PYTHONDONTWRITEBYTECODE", "LANGGRAPH_", "VIRTUAL_ENV")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(drop)}
        who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
               for what, value in (("NAME", "You"), ("EMAIL", "you@localhost"))}  # fmt: skip
        self.environment = {**kept, **who, "HOME": str(self.home), "COLUMNS": "120", "LC_ALL": "C.UTF-8"}
        self.home.mkdir(parents=True, exist_ok=True)
        self.enter("shop")

    def enter(self, project: str) -> None:
        """Go to a project, which is made on the first visit."""
        self.place = self.home / project
        if self.place.exists():
            return
        if project == "kotef":
            for name in ("kotef", "prompts", "examples", "tests", "pyproject.toml", "README.md"):
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
                copy(ROOT / name, _made(self.place) / name)
            self.environment["PYTHONPATH"] = str(self.place)
        elif project == "team":
            _made(self.place)
            self._own = OwnEnvironment(self.home.parent / "environment")
            self.environment |= self._own.variables(self.environment["PATH"])
        elif project == "empty":
            _made(self.place)
        else:
            ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache", "runs")
            shutil.copytree(ROOT / "examples" / PROJECTS[project], self.place, ignore=ignored)
            self._bash("git init -q -b main && git add -A && git commit -q -m 'Start'")

    def leave(self) -> None:
        """Stop everything."""
        self.close()
        if self._program:
            self._program.__exit__()
            self._program = None

    def close(self) -> None:
        """Stop the endpoint."""
        for opened in self._opened:
            opened.__exit__(None, None, None)
        self._opened.clear()

    def play(self, block: Block) -> None:
        """Do what one block says; AssertionError, with its place, where that is not so."""
        if "in" in block.told:
            self.enter(block.told["in"])
        if "with" in block.told:
            self.close()
            self.server = OpenAIServer(**ENDPOINTS[block.told["with"]]())
            self._opened.append(self.server)
            self.server.__enter__()
        if "before" in block.told:
            done = self._bash(self._here(block.told["before"]))
            assert done.returncode == 0, f"{block.where}: before it: {done.stdout}"
        text = self._here(block.text)
        if "file" in block.told and block.language != "diff":
            path = self._path(block.told["file"])
            _made(path.parent)
            path.write_text(text)
        HOW[block.language](self, block, text)

    def commands(self, block: Block, text: str) -> None:
        """A block of commands: all of them end well, or with the status told."""
        done = self._bash(text)
        self.printed = done.stdout
        expected = int(block.told.get("exits", 0))
        assert done.returncode == expected, f"{block.where}: exit {done.returncode}\n{done.stdout}"

    def dialogue(self, block: Block, text: str) -> None:
        """Commands, each with what it prints; the status told is that of the last."""
        turns = re.split(r"^\$ ", text, flags=re.MULTILINE)
        assert not turns[0].strip(), f"{block.where}: output before the first command"
        for number, turn in enumerate(turns[1:], 1):
            command, _, shown = turn.partition("\n")
            while command.endswith("\\"):
                more, _, shown = shown.partition("\n")
                command = f"{command}\n{more}"
            done = self._bash(command)
            self.printed = done.stdout
            expected = int(block.told.get("exits", 0)) if number == len(turns) - 1 else 0
            assert done.returncode == expected, f"{block.where}: `{command}`: exit {done.returncode}\n{done.stdout}"
            self._prints(block, shown)

    def output(self, block: Block, text: str) -> None:
        """What the block before has printed."""
        self._prints(block, text)

    def script(self, block: Block, text: str) -> None:
        """A program; one that is a file's content is compiled, and runs where it is used."""
        if "file" in block.told:
            compile(text, block.where, "exec")
            return
        command = [sys.executable, "-W", "error", "-c", text]
        done = subprocess.run(
            command, cwd=self.place, env=self.environment, capture_output=True, text=True, check=False, timeout=SECONDS
        )
        assert done.returncode == 0, f"{block.where}: {done.stdout}{done.stderr}"
        self.printed = done.stdout + done.stderr

    def change(self, block: Block, text: str) -> None:
        """A change of a file, each hunk of which fits in one place; or a diff that was printed."""
        if "file" not in block.told:
            self.output(block, text)
            return
        path = self._path(block.told["file"])
        content = path.read_text()
        for hunk in re.split(r"^@@.*\n", text, flags=re.MULTILINE):
            lines = hunk.splitlines(keepends=True)
            old = "".join(line[1:] for line in lines if line[0] in " -")
            new = "".join(line[1:] for line in lines if line[0] in " +")
            if lines:
                assert content.count(old) == 1, f"{block.where}: not once in {block.told['file']}:\n{old}"
                content = content.replace(old, new)
        path.write_text(content)

    def settings(self, block: Block, text: str) -> None:
        """A file that something reads: by what reads it."""
        parsed = PARSERS[block.language](text)
        assert parsed, f"{block.where}: nothing is in it"
        name = block.told.get("file", "")
        reader = next((read for ending, read in READERS.items() if name.endswith(ending)), None)
        assert reader or not name or ".sdd/" not in name, f"{block.where}: tests/support/documents.py has no reader"
        if reader:
            reader(self._path(name))

    def prose(self, block: Block, text: str) -> None:
        """Markdown: a ticket has no problem, whether or not it is a file's content."""
        if not re.search(r"^# Ticket", text):
            return
        from kotef.sdd.ticket import read_ticket

        ticket = read_ticket(block.told.get("file", "07-example.md"), text)
        assert not ticket.problems, f"{block.where}: {ticket.problems}"

    def figure(self, block: Block, text: str) -> None:
        """The loop, as the command draws it."""
        done = self._bash("kotef graph")
        assert text.strip() == done.stdout.strip(), f"{block.where}: `kotef graph` draws another one"

    def _path(self, name: str) -> Path:
        return self.home / name[2:] if name.startswith("~/") else self.place / name

    def _here(self, text: str) -> str:
        return _LOCAL.sub(self.server.base_url.removesuffix("/v1"), text) if self.server else text

    def _bash(self, command: str) -> subprocess.CompletedProcess[str]:
        """As typed into a terminal: directory and variables stay for the next."""
        if not self._program and not self._own and re.search(r"\bkotef\b", command):
            self._program = KotefProgram(self.home.parent / f"{self.home.name}.bin")
            self._program.__enter__()
            self.environment["PATH"] = f"{self._program.folder}{os.pathsep}{self.environment['PATH']}"
        state = self.home.parent / f"{self.home.name}.state"
        ending = f"trap 'status=$?; {{ pwd; env -0; }} > \"{state}\"; exit $status' EXIT\n"
        done = subprocess.run(
            ["bash", "-e", "-c", ending + command],
            cwd=self.place,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        if state.exists():
            where, _, rest = state.read_text().partition("\n")
            self.place = Path(where)
            pairs = (entry.split("=", 1) for entry in rest.split("\0") if "=" in entry)
            self.environment = {name: value for name, value in pairs if name not in ("_", "SHLVL", "PWD", "OLDPWD")}
            state.unlink()
        return done

    def _prints(self, block: Block, shown: str) -> None:
        """What is shown is what was printed, but for what is another at each run."""
        wanted, printed = self.same(shown), self.same(self.printed)
        parts = [re.escape(part) for part in re.split(r"^\s*…\n", wanted, flags=re.MULTILINE)]
        fits = re.fullmatch(r"(?:.*\n)*?".join(parts), printed)
        assert fits, f"{block.where}: shown is\n{wanted}\n---- printed is\n{printed}"

    def same(self, text: str) -> str:
        """A text without what is another at each run or on each machine."""
        text = text.replace(str(self.place), "PLACE").replace(str(self.home), "/home/you")
        return "\n".join(line.rstrip() for line in normal(text).strip("\n").splitlines()) + "\n"


VARYING: Final = (
    (r"\bpytest \d+\.\d+[\w.]*", "pytest VERSION"),
    (r"\bstarts +last run", "starts  last run"),
    (r"\b\d{8}-\d{6}-[0-9a-f]{4}\b", "RUN"),
    (r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?", "DATE"),
    (r"\b\d+(?:\.\d+)? ?(?:s|seconds)\b", "TIME"),
    (r"\b[\d,]+ candidates\b", "N candidates"),
    (r"(passes the test: \S+?:)\d+: `[^`]*`", r"\1LINE: `WRONG`"),
    (r"sandbox: (?:off|bwrap|landlock|strict)(?:, (?:no|with) network)?", "sandbox: LEVEL"),
    (r"(?:localhost|127\.0\.0\.1):\d+", "localhost:PORT"),
    (r"/home/you/(?:shop|clock|empty|kotef)\b|~/(?:shop|clock|empty|kotef)\b", "PLACE"),
    (r"/home/you\b", "~"),
    (r"\b[0-9a-f]{7,}\.\.[0-9a-f]{7,}\b", "BLOBS"),
)
"""What differs from run to run, and what stands for it."""


def normal(text: str) -> str:
    """The text with placeholders for what differs from run to run."""
    for pattern, name in VARYING:
        text = re.sub(pattern, name, text)
    return text


def _made(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _yaml(text: str) -> Any:
    import yaml

    return yaml.safe_load(text)


def _ini(text: str) -> Any:
    parser = configparser.ConfigParser()
    parser.read_string(text)
    return parser.sections()


def _users(path: Path) -> None:
    from kotef.runs.config import read_config

    read_config(path)


def _repositorys(path: Path) -> None:
    from kotef.checks.detect import configured
    from kotef.runs.config import UserConfig
    from kotef.runs.repository import repository_of

    root = path.parents[1]
    configured(root)
    unused = repository_of(root, UserConfig(), trust=True, env={}).notices
    assert not unused, unused


def _servers(path: Path) -> None:
    from kotef.runs.config import UserConfig
    from kotef.runs.mcp_config import trusted_servers

    root = path.parents[1] if path.parent.name == ".sdd" else path.parent
    found, unused = trusted_servers(root, UserConfig(), asked=True)
    assert found.servers(defaultdict(lambda: "as set by a person")), unused


PARSERS: Final[dict[str, Callable[[str], Any]]] = {
    "toml": tomllib.loads,
    "json": json.loads,
    "yaml": _yaml,
    "yml": _yaml,
    "ini": _ini,
}
READERS: Final[dict[str, Callable[[Path], None]]] = {
    "kotef/config.toml": _users,
    ".sdd/kotef.toml": _repositorys,
    ".mcp.json": _servers,
    ".sdd/mcp.json": _servers,
}
"""Ending of a file's name → what reads it."""

HOW: Final[dict[str, Callable[[Session, Block, str], None]]] = {
    **dict.fromkeys(("bash", "sh"), Session.commands),
    "console": Session.dialogue,
    "text": Session.output,
    "python": Session.script,
    "diff": Session.change,
    **dict.fromkeys(PARSERS, Session.settings),
    **dict.fromkeys(("markdown", "md"), Session.prose),
    "mermaid": Session.figure,
}


def played(block: Block, *markers: str) -> bool:
    """Whether the page's own test runs it, or that of these markers."""
    return "not run" not in block.told and block.told.get("by hand") in (None, *markers)


def not_run(blocks: list[Block]) -> Iterator[str]:
    """A line for each block that nothing runs, or only a person."""
    for block in blocks:
        if not played(block):
            first = next((line for line in block.text.splitlines() if line.strip()), "")
            why = block.told.get("not run") or f"python -m pytest -m {block.told['by hand']} runs it"
            yield f"{block.page}: {block.language}: {first.strip()[:60]}: {why}"
