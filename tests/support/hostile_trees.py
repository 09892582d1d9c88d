"""Workspaces as an attacker could write them: links, pipes, devices, huge and odd files at every path that kotef reads.

`trees` is a hypothesis strategy; `build` writes a tree to the disk, beside a home with a canary; `play` runs a command
in it in a separate process and returns how it ended; `World.disturbed` says what the command touched outside.
"""

import codecs
import hashlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO

from hypothesis import strategies as st
from support.run_dirs import RUN, made_run

CANARY = "canary-5f0c9a7e41d2"
"""A text that no output and no file of the workspace may contain."""
STATUSES = frozenset({*range(8), 130, 137})
"""Expected exit statuses; 137 occurs only for `kotef watch`: the run was killed."""
NOBODY = 65534

RUN_FILES = (
    "", "/task.json", "/result.json", "/events.jsonl", "/record.jsonl", "/report.md", "/report.html", "/left.json",
    "/seen.json", "/seconds", "/standing-in.json", "/aside", "/stood-in.patch", "/judged-0.json", "/visit-0.json",
    "/visit-1.json", "/visit-1.patch", "/visit-1.base", "/visit-1.put-back.patch", "/saved-1.json", "/stash",
    "/logs", "/logs/visit-0-true.log", "/checkpoints.sqlite", "/approved.json", "/effects.jsonl", "/hidden",
)  # fmt: skip
PLACES = (
    ".sdd", ".sdd/runs", ".sdd/runs/.gitignore", ".sdd/runs/issues.lock", ".sdd/runs/zzz", ".sdd/issues.md",
    ".sdd/project.md", ".sdd/architect.md", ".sdd/best_practices.md", ".sdd/KOTEF.md", ".sdd/kotef.toml",
    ".sdd/agents.md", ".sdd/mcp.json", ".sdd/.gitignore", ".sdd/prompts", ".sdd/prompts/coder.md", ".sdd/memory",
    ".sdd/memory/core.md", ".sdd/memory/daily.md", ".sdd/skills", ".sdd/skills/one", ".sdd/skills/one/SKILL.md",
    ".sdd/backlog", ".sdd/backlog/tickets", ".sdd/backlog/tickets/open", ".sdd/backlog/tickets/open/01-first.md",
    ".sdd/backlog/tickets/open/02-second.md", ".sdd/backlog/tickets/closed", "AGENTS.md", "CLAUDE.md", ".mcp.json",
    "README.md", "pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini", "conftest.py", "package.json", "Makefile",
    "Cargo.toml", "go.mod", "pom.xml", "package-lock.json", "uv.lock", ".env", ".env.local", ".venv",
    ".venv/pyvenv.cfg", ".venv/bin/python", "node_modules", "specs", "specs/001-one", "specs/001-one/tasks.md",
    ".specify/specs", ".kiro", ".kiro/specs/one", ".kiro/specs/one/tasks.md", ".agents/skills/two", ".gitignore",
    ".gitattributes", ".gitmodules", "calc.py", "test_calc.py", "tests", "tests/test_more.py", "src", "sub/AGENTS.md",
    ".git/config", ".git/HEAD", ".git/index", ".git/info/exclude", ".git/hooks/post-checkout",
    *(f".sdd/runs/{RUN}{name}" for name in RUN_FILES),
)  # fmt: skip
"""Every path that kotef looks for by itself."""

ODD_NAMES = (
    b"line\nbreak.md", b"\x1b[2Jclear.md", "\u202egnp.md".encode(), "c1\u009b31m.md".encode(), b"not-utf8-\xff\xfe.md",
    b"-rf", b"--help.md", b"n" * 255, "\u2066x\u2069.py".encode(), b" ", b"a'b\"c`d$e.md", b".kotef-0123456789abcdef.tmp",
)  # fmt: skip
TEXTS = (
    b"", b"\0", b"{", b"[" * 50_000, b"[]", b"null", b'{"a": 1}', b'"text"', b"1e999999", b"\xff\xfe\0x", b"= [[",
    b"\xef\xbb\xbf{}", b'{"schema_version": "\\ud800"}', b"# " + b"x" * 300_000, b"- [ ] " * 5_000, b"---\nname: [\n---\n",
    b"\x1b]0;title\x07\x1b[31mred \xc2\x9b2J \xe2\x80\xae gnp.txt", b"a = 1\n" * 20_000, b"<!--", b"```\n" * 3_000,
    b"all:\n\t@echo hi\n", b"home = " + b"/" * 5_000, b"[run]\nmax_attempts = -1\n", b'{"mcpServers": []}',
    b'{"mcpServers": {"x": {"command": 5}}}', b'{"scripts": []}', b'{"scripts": {"test": 5}}', b"[tool]\npytest = 3\n",
    b"[project]\nname = 5\ndependencies = {}\n", b"[sandbox]\nread = 5\n", b"gitdir: /dev/zero\n", b"## a\n" * 3_000,
)  # fmt: skip


@dataclass(frozen=True)
class Attack:
    """One thing planted at one path, replacing what was there."""

    kind: str
    place: str
    which: int = 0
    """Selects one of the texts, names or targets, if there are several."""


Plant = Callable[["World", Path, int], None]


def _link(target: Callable[["World", Path, int], object]) -> Plant:
    def plant(world: "World", path: Path, which: int) -> None:
        path.symlink_to(str(target(world, path, which)))

    return plant


def _inside(world: "World", path: Path, which: int) -> str:
    targets = ("calc.py", ".sdd/project.md", ".sdd", "tests", f".sdd/runs/{RUN}", ".git")
    return os.path.relpath(world.root / targets[which % len(targets)], path.parent)


def _socket(world: "World", path: Path, which: int) -> None:
    with socket.socket(socket.AF_UNIX) as one, _standing_in(path.parent):
        one.bind(path.name)


@contextmanager
def _standing_in(place: Path) -> Iterator[None]:
    """Change the working directory, because a socket's path has at most about a hundred bytes."""
    before = Path.cwd()
    os.chdir(place)
    try:
        yield
    finally:
        os.chdir(before)


def _device(world: "World", path: Path, which: int) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, (5, 7, 3)[which % 3]))  # zero, full, null
    except PermissionError:
        path.symlink_to("/dev/zero")


def _sparse(world: "World", path: Path, which: int) -> None:
    with path.open("wb") as file:
        file.truncate(10 << 30)


def _deep(world: "World", path: Path, which: int) -> None:
    path.mkdir()
    name = ("d", "n" * 200)[which % 2]  # with the second, the path exceeds the system's limit
    current = os.open(path, os.O_RDONLY)
    for _ in range(500 if name == "d" else 40):
        os.mkdir(name, dir_fd=current)
        deeper = os.open(name, os.O_RDONLY, dir_fd=current)
        os.close(current)
        current = deeper
    os.close(current)


def _many(world: "World", path: Path, which: int) -> None:
    path.mkdir()
    folder = os.open(path, os.O_RDONLY)
    for number in range(2_000):
        if which % 2:
            os.mkdir(f"20260131-101500-{number:04x}", dir_fd=folder)
        else:
            os.close(os.open(f"{number:04}-t.md", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)


def _odd(world: "World", path: Path, which: int) -> None:
    """Odd names in the folder at this path, or in a new one that replaces what is there."""
    path.mkdir()
    for name in ODD_NAMES:
        with suppress(OSError):
            (path / os.fsdecode(name)).write_bytes(TEXTS[which % len(TEXTS)][:2_000])
    with suppress(OSError):
        (path / "folder\u202e\x1b").mkdir()


def _text(world: "World", path: Path, which: int) -> None:
    path.write_bytes(TEXTS[which % len(TEXTS)])


def _closed(world: "World", path: Path, which: int) -> None:
    (path.mkdir if which % 2 else path.touch)(mode=0)


def _others(world: "World", path: Path, which: int) -> None:
    (path.mkdir if which % 2 else path.touch)()
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)


PLANTS: dict[str, Plant] = {
    "link to a file outside": _link(lambda world, _path, which: world.secrets[which % len(world.secrets)]),
    "link to a folder outside": _link(lambda world, _path, which: (world.outside, world.home, "/")[which % 3]),
    "link inside": _link(_inside),
    "link above": _link(lambda _world, _path, which: "../" * (which % 6 + 1)),
    "link to nothing": _link(lambda world, _path, which: (world.outside / "new", "nothing", "/x\n")[which % 3]),
    "link to itself": _link(lambda _world, path, _which: path.name),
    "link to a device": _link(lambda _world, _path, which: ("/dev/zero", "/dev/tty", "/proc/self/mem")[which % 3]),
    "link to a pipe": _link(lambda world, _path, _which: world.outside / "pipe"),
    "pipe": lambda _world, path, _which: os.mkfifo(path),
    "socket": _socket,
    "device": _device,
    "huge": _sparse,
    "deep": _deep,
    "many": _many,
    "odd names": _odd,
    "text": _text,
    "folder": lambda _world, path, _which: path.mkdir(),
    "file": lambda _world, path, _which: path.touch(),
    "closed": _closed,
    "of somebody else": _others,
}


def trees(most: int = 4) -> st.SearchStrategy[tuple[Attack, ...]]:
    """The attacks on one workspace; a later attack may remove an earlier one."""
    attack = st.builds(Attack, st.sampled_from(sorted(PLANTS)), st.sampled_from(PLACES), st.integers(0, 63))
    return st.lists(attack, min_size=1, max_size=most).map(tuple)


@dataclass(frozen=True)
class World:
    """A workspace, and files beside it that no command may touch."""

    place: Path

    @property
    def root(self) -> Path:
        """The workspace."""
        return self.place / "project"

    @property
    def home(self) -> Path:
        """The person's home; kotef's state is beside it."""
        return self.place / "home"

    @property
    def outside(self) -> Path:
        """A folder beside the workspace, with a pipe in it."""
        return self.place / "outside"

    @property
    def secrets(self) -> tuple[Path, ...]:
        """Files that contain the canary."""
        return (self.home / ".bashrc", self.home / ".ssh" / "id_rsa", self.outside / "theirs.json")

    def looks(self) -> dict[str, object]:
        """Everything outside the workspace: path → type, mode, owner, times and content."""
        found: dict[str, object] = {}
        for top in (self.home, self.outside):
            for path in (top, *sorted(top.rglob("*"))):
                facts = path.lstat()
                content = path.read_bytes() if stat.S_ISREG(facts.st_mode) else b""
                found[str(path)] = (facts.st_mode, facts.st_uid, facts.st_nlink, facts.st_mtime_ns, content)
        return found

    def disturbed(self, before: dict[str, object]) -> list[str]:
        """What a command did that it must not do."""
        now = self.looks()
        touched = [path for path in sorted(before.keys() | now.keys()) if before.get(path) != now.get(path)]
        return [f"touched: {path}" for path in touched] + [f"the canary is in {path}" for path in self.leaks()]

    def leaks(self) -> list[str]:
        """Files of the workspace that contain the canary."""
        found = []
        for folder, _, names in os.walk(self.root):
            for name in names:
                path = os.path.join(folder, name)  # noqa: PTH118 - thousands of them
                with suppress(OSError):
                    facts = os.lstat(path)
                    if stat.S_ISREG(facts.st_mode) and facts.st_size < 1 << 20 and CANARY.encode() in _bytes(path):
                        found.append(path)
        return found


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        return file.read()


def innocent(place: Path) -> World:
    """The world before the attacks: a small project with a finished run, a git history and a full `.sdd`."""
    world = World(place)
    for folder in (world.root, world.home / ".ssh", world.outside, place / "state", place / "config"):
        folder.mkdir(parents=True)
    for path in world.secrets:
        path.write_text(f'{{"{CANARY}": "{CANARY}"}}\n')
    os.mkfifo(world.outside / "pipe")
    ticket = "# {0}\n\n## Objective\nadd adds\n\n## Definition of Done\n- [ ] test_calc.py passes\n"
    files = {
        "calc.py": "def add(a, b):\n    return a + b\n",
        "test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
        "AGENTS.md": "Be brief.\n",
        ".env": "API_TOKEN=abcdefgh12345678\n",
        ".gitignore": "__pycache__/\n",
        "pyproject.toml": '[project]\nname = "calc"\nversion = "1"\n',
        ".sdd/project.md": "# Calc\n\nIt adds.\n",
        ".sdd/architect.md": "# Architecture\n\n## Quality gates\n\n```bash\ntrue\n```\n",
        ".sdd/agents.md": "## coder\n\nBe brief.\n",
        ".sdd/memory/core.md": "- a note\n",
        ".sdd/skills/one/SKILL.md": "---\nname: one\ndescription: one thing\n---\nDo it.\n",
        ".sdd/backlog/tickets/open/01-first.md": ticket.format("First"),
        "specs/001-one/spec.md": "# Feature Specification: One\n",
        "specs/001-one/tasks.md": "# Tasks: One\n\n- [ ] T001 do it in calc.py\n",
        ".kiro/specs/one/tasks.md": "# Implementation Plan\n\n- [ ] 1. Do it\n",
    }
    for name, text in files.items():
        (world.root / name).parent.mkdir(parents=True, exist_ok=True)
        (world.root / name).write_text(text)
    run = made_run(world.root, attempts=2)
    (run.path / "report.md").write_text("# A report\n")
    for copy in (world.root / ".sdd" / "runs" / RUN, place / "run"):
        shutil.copytree(run.path, copy)
    shutil.rmtree(run.path)
    (world.home / ".gitconfig").write_text("[user]\n\tname = Test\n\temail = test@localhost\n")
    for arguments in (["init", "-q", "--template="], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run(["git", *arguments], cwd=world.root, env=_environment(world), check=True)
    return world


def build(
    template: World, place: Path, attacks: Sequence[Attack], *, owner: int | None = None, own: bool = False
) -> World:
    """A copy of the innocent world with these attacks in it; all files then belong to `owner`.

    kotef knows the run in it from its record only, or, if it is its `own`, from its state as well.
    """
    world = World(place)
    subprocess.run(["cp", "-a", f"{template.place}/.", place], check=True)
    if own:
        key = hashlib.sha256(os.fsencode(os.path.realpath(world.root))).hexdigest()[:16]
        runs = place / "state" / "kotef" / key / "runs"
        runs.mkdir(parents=True, mode=0o700)
        (place / "run").rename(runs / RUN)
    for attack in attacks:
        path = world.root / attack.place
        with suppress(OSError):  # an earlier attack may be in the way: a link, or a file in place of a folder
            if Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(world.root)):
                path.parent.mkdir(parents=True, exist_ok=True)
                _clear(path)
                PLANTS[attack.kind](world, path, attack.which)
    if owner is not None:
        subprocess.run(["chown", "-Rh", f"{owner}:{owner}", place], check=True)
    return world


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def clear(place: Path) -> None:
    """Delete a world, however deep and whatever its modes."""
    if os.geteuid():
        subprocess.run(["chmod", "-R", "u+rwx", place], check=False, capture_output=True)
    subprocess.run(["rm", "-rf", place], check=False)


def load() -> None:
    """Import modules that a forked command would import late: running as another user, it could not read them."""
    import encodings
    import importlib
    import pkgutil

    import kotef

    for package in (kotef, encodings):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(_NOT_LOADED):
                with suppress(ImportError):
                    importlib.import_module(module.name)
    for name in ("unicode-escape", "utf-8-sig", "latin-1", "idna"):
        codecs.lookup(name)


_NOT_LOADED = ("kotef.studio", "kotef.__main__", "kotef.repair.worker", "encodings.mbcs", "encodings.oem")


@dataclass(frozen=True)
class Ended:
    """How a command ended. A negative status is the signal that killed it; None means it did not end in time."""

    status: int | None
    stdout: str
    stderr: str
    seconds: float

    def faults(self) -> list[str]:
        """What is wrong with the ending; empty if nothing is."""
        said = self.stdout + self.stderr
        found = []
        if self.status not in STATUSES:
            found.append(f"status {self.status} after {self.seconds:.1f} s")
        if "Traceback" in said or self.status == 1:
            found.append("a traceback, or the status of a defect")
        if not said.strip():
            found.append("not a word")
        if raw := sorted({f"U+{ord(char):04X}" for char in said if is_raw(char)}):
            found.append(f"raw characters: {', '.join(raw)}")
        if CANARY in said:
            found.append("the canary is shown")
        return found


def is_raw(char: str) -> bool:
    """Whether a character could steer a terminal or is invisible."""
    return char not in "\n\t" and unicodedata.category(char) in {"Cc", "Cf", "Cs"}


def _environment(world: World) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
    return kept | {
        "HOME": str(world.home),
        "XDG_STATE_HOME": str(world.place / "state"),
        "XDG_CONFIG_HOME": str(world.place / "config"),
        "XDG_CACHE_HOME": str(world.place / "state" / "cache"),
        "TMPDIR": str(world.place / "state"),
        "KOTEF_SANDBOX": "off",
        "GIT_CEILING_DIRECTORIES": str(world.place),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def play(
    world: World,
    arguments: Sequence[str],
    *,
    forked: bool = True,
    owner: int | None = None,
    seconds: float = 10.0,
    extra: Mapping[str, str] = MappingProxyType({}),
) -> Ended:
    """Run kotef in a world: forked from this process, which is fast, or as a real process."""
    started = time.monotonic()
    outputs = (world.place / "stdout", world.place / "stderr")
    for path in outputs:
        path.touch()
    if forked:
        child = os.fork()
        if not child:
            _as_kotef(world, arguments, outputs, owner, extra)
        status = _awaited(child, started + seconds)
    else:
        with outputs[0].open("wb") as one, outputs[1].open("wb") as two:
            status = _in_full(world, arguments, one, two, seconds)
    text = [path.read_bytes().decode("utf-8", "backslashreplace") for path in outputs]
    return Ended(status, *text, time.monotonic() - started)


def _in_full(world: World, arguments: Sequence[str], one: IO[bytes], two: IO[bytes], seconds: float) -> int | None:
    command, env = [sys.executable, "-m", "kotef", *arguments], _environment(world)
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=world.root, env=env, stdin=nothing, stdout=one, stderr=two, start_new_session=True
    ) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)


def _as_kotef(
    world: World, arguments: Sequence[str], outputs: tuple[Path, Path], owner: int | None, extra: Mapping[str, str]
) -> None:
    import gc
    import resource
    import tempfile

    gc.disable()
    status = 1
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))  # a command that reads without end fails
        os.chdir(world.root)
        for number, path in enumerate(outputs, 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_TRUNC), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        if owner is not None:
            os.setgroups([])
            os.setgid(owner)
            os.setuid(owner)
        os.environ.clear()
        os.environ.update(_environment(world) | extra)
        tempfile.tempdir = None
        sys.argv = ["kotef", *arguments]
        from kotef.cli.main import main

        main(args=list(arguments), prog_name="kotef")
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    except BaseException:  # noqa: BLE001 - this child must never continue as pytest
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _awaited(child: int, until: float) -> int | None:
    pause = 0.002
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            with suppress(OSError):
                os.killpg(child, signal.SIGKILL)
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            with suppress(OSError):
                os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(pause)
        pause = min(pause * 1.3, 0.05)


@contextmanager
def swapping(world: World, place: str) -> Iterator[None]:
    """During the block, a file of the workspace alternates between a text, a link to outside, a pipe and nothing."""
    path, over = world.root / place, threading.Event()

    def swap() -> None:
        forms: tuple[Callable[[], object], ...] = (
            lambda: path.write_text("{}"),
            lambda: path.symlink_to(world.secrets[1]),
            lambda: os.mkfifo(path),
            lambda: path.symlink_to(world.outside),
        )
        turn = 0
        while not over.is_set():
            with suppress(OSError):
                path.unlink(missing_ok=True)
                forms[turn % len(forms)]()
            turn += 1

    thread = threading.Thread(target=swap)
    with suppress(OSError):
        _clear(path)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
