"""A project on disk, a real Python that runs it, and the fixers on what that Python printed."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kotef.fixers.table import FailingCheck, Fix, propose


@dataclass
class Bench:
    root: Path
    forbidden: set[str] = field(default_factory=set)
    reads: list[str] = field(default_factory=list)

    def write(self, listing: str) -> None:
        """Files one after the other, each below a line `== path`."""
        for part in re.split(r"^== ", listing, flags=re.MULTILINE)[1:]:
            path, _, text = part.partition("\n")
            self.put(path.strip(), text)

    def put(self, path: str, text: str | bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def run(self, *arguments: str) -> tuple[int, str]:
        """`python …` in the project, isolated from the machine and quick to start."""
        done = subprocess.run(
            [sys.executable, "-B", *arguments],
            cwd=self.root,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return done.returncode, done.stdout + done.stderr

    def check(self) -> tuple[int, str]:
        """Run `test_it.py` as a script: a quick test runner whose traceback is Python's own."""
        return self.run("-S", "test_it.py")

    def pytest(self, *options: str) -> tuple[int, str]:
        return self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *options)

    @property
    def paths(self) -> list[str]:
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*.py"))

    def proposals(self, output: str, kind: str = "test_failure", command: str = "pytest") -> Iterator[Fix]:
        def read(path: str) -> bytes | None:
            self.reads.append(path)
            return (self.root / path).read_bytes()

        return propose(
            self.root,
            [FailingCheck(command, output, kind, "")],
            read=read,
            paths=self.paths,
            may_edit=lambda path: path not in self.forbidden,
        )

    def fix(self, output: str) -> Fix | None:
        return next(self.proposals(output), None)

    def apply(self, fix: Fix) -> None:
        for path, content in fix.files.items():
            (self.root / path).write_bytes(content)

    def mend(self) -> list[Fix]:
        """Fix after fix, the first of each run, until `test_it.py` is green or nothing is proposed."""
        made: list[Fix] = []
        while len(made) < 10:
            status, output = self.check()
            fix = self.fix(output) if status else None
            if fix is None:
                return made
            self.apply(fix)
            made.append(fix)
        raise AssertionError(made)

    def refuses(self) -> str:
        """The test is red and no fix is proposed; returns the output."""
        status, output = self.check()
        assert status != 0
        assert list(self.proposals(output)) == []
        return output
