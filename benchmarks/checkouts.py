"""Checkouts of public repositories: their commits and environments, commands in them, and what puts them back."""

import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE = 1800
"""Seconds for one command."""
TESTS = re.compile(r"(?:^|/)(?:tests?|testing|spec|__tests__)/|_test\.go$|(?:^|/)test_[^/]*\.py$|\.test\.[jt]s$")
CODE = re.compile(r"\.(?:py|js|ts|go|rs|c|h|java)$")


@dataclass(frozen=True)
class Repository:
    """One entry of the manifest."""

    name: str
    source: str
    commit: str
    language: str
    runner: str
    command: str
    setup: tuple[str, ...] = ()
    listing: str = ""
    """The command that names each test, where it is not the command with the runner's addition."""
    small: bool = False
    """Whether `python -m pytest -m world` takes it."""
    fix: tuple[str, ...] = ()
    """Commits of the project that changed its product and its tests, and can still be taken back."""


def repository_of(entry: Mapping[str, Any]) -> Repository:
    """One table of the manifest."""
    return Repository(**{name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()})


def set_up(repository: Repository, checkout: Path) -> None:
    """Check the commit out, and make its environment unless that was done."""
    done = checkout / ".git" / "world-setup"
    if not (checkout / ".git").exists() or (done.exists() and done.read_text() == repr(repository.setup)):
        return
    by_hand(shlex.join(["git", "checkout", "-q", repository.commit]), checkout)
    for command in repository.setup:
        if by_hand(command, checkout).returncode:
            print(f"{repository.name:20} setup failed: {command}", file=sys.stderr)
            return
    done.write_text(repr(repository.setup))


def by_hand(command: str, checkout: Path) -> "subprocess.CompletedProcess[bytes]":
    """The command as a person runs it."""
    words = ["bash", "-c", command]
    return subprocess.run(
        words, cwd=checkout, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False
    )


def output_of(done: "subprocess.CompletedProcess[bytes]") -> str:
    """Both streams, without colours."""
    return re.sub(r"\x1b\[[\d;]*m", "", (done.stdout + done.stderr).decode(errors="replace"))


def in_cpu_seconds(act: Callable[[], object]) -> float:
    """CPU seconds of the processes that it starts and waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    act()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def put_back(checkout: Path) -> Iterator[None]:
    """The checkout as it was: what git tracks, and nothing of kotef's in it. A state of its own for kotef's runs."""
    with tempfile.TemporaryDirectory(prefix="world_") as state:
        before = os.environ.get("XDG_STATE_HOME")
        os.environ["XDG_STATE_HOME"] = state
        try:
            yield
        finally:
            del os.environ["XDG_STATE_HOME"]
            if before is not None:
                os.environ["XDG_STATE_HOME"] = before
            git(checkout, "checkout", "-q", "--force", ".")
            shutil.rmtree(checkout / ".sdd", ignore_errors=True)


def git(checkout: Path, *arguments: str, given: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    """git in the checkout."""
    return subprocess.run(["git", *arguments], cwd=checkout, capture_output=True, input=given, check=False)


def product_of(checkout: Path, commit: str) -> list[str]:
    """The files of a commit that are neither tests nor words."""
    changed = git(checkout, "diff-tree", "--no-commit-id", "--name-only", "-r", commit).stdout.decode().split()
    return [name for name in changed if CODE.search(name) and not TESTS.search(name)]


def taken_back(checkout: Path, patch: bytes) -> dict[str, str]:
    """Undo the patch in the work tree; the files as they were with it, by path."""
    names = re.findall(rb"^\+\+\+ b/(.*)$", patch, re.MULTILINE)
    right = {name.decode(): (checkout / name.decode()).read_text(encoding="utf-8") for name in names}
    if git(checkout, "apply", "-R", "-", given=patch).returncode:
        sys.exit(f"{checkout.name}: a commit of the manifest cannot be taken back any more")
    return right
