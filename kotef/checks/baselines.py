"""Stored baselines, reused when the same tree was already judged by the same checks."""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from kotef import __version__
from kotef.checks.types import Check, CommandResult
from kotef.errors import KotefError
from kotef.files import write_atomic
from kotef.sandbox import OFF, Sandbox
from kotef.shell import words_of

KEPT: Final = 20
"""Baselines kept of one workspace, the newest."""
LARGEST: Final = 5 * 1024 * 1024
"""Bytes of one; a larger one is not kept."""
MAX_AGE: Final = 7 * 24 * 3600.0
"""Seconds for which one may stand: tests may depend on the date, or on what is somewhere else."""

_ENVIRONMENTS: Final = (".venv", "venv", "env")
_PACKAGES: Final = ("lib/python*/site-packages", "lib/python*/dist-packages", "lib64/python*/site-packages")
_INSTALLED: Final = ("node_modules", "node_modules/.package-lock.json", "node_modules/.yarn-integrity")

Facts = dict[str, tuple[int, int]]
"""Path → bytes and time of change in nanoseconds."""


class StoredBaseline(BaseModel):
    """What the checks said about one tree."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    judged: float
    """Seconds since 1970."""
    results: tuple[tuple[Check, CommandResult], ...]
    wrote: tuple[str, ...]
    """Paths of the tree that the checks wrote."""
    ignored: Facts
    """Ignored files beside the tree that the checks may have read, as they were."""
    installs: frozenset[str] = frozenset()
    """Installed environments of the workspace that the checks wrote to."""
    rewritten: frozenset[str]
    """Ignored files that changed while the checks ran: theirs, and so without meaning."""

    @property
    def judged_at(self) -> str:
        """In UTC, ISO 8601 to the second."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.judged))


class Baselines:
    """The baselines of one workspace, outside it; one file each.

    A baseline stands for another run only where all of this is the same: the tree, the checks and how often tests are
    run again, kotef's version, the environment variables of a check, what confines it and whether it has the network,
    the programs and packages it runs with (paths, sizes and times of change of every program named, of `.venv` and of
    the directories packages are installed in), and the ignored files a snapshot lists (`.env`, local settings). Not
    seen: build outputs, caches, what an editable install outside the workspace holds, services, the network and the
    clock; hence `MAX_AGE` and `--no-cache`. Nothing is kept of a baseline whose environment was broken, that ran into a
    timeout, or in which a test was flaky.
    """

    def __init__(self, directory: Path, root: Path, env: Mapping[str, str], sandbox: Sandbox = OFF) -> None:
        """`env` is the whole environment of a check, `sandbox` what confines it."""
        self.directory, self.root = directory, root
        self._env = dict(env)
        self._confined = [str(sandbox), *(map(str, sandbox.confinement.readable) if sandbox.confinement else ())]
        self.seconds: dict[str, float] = {}
        """Check → what it took when the baseline in use was judged; empty unless one is."""
        self.on_reuse: Callable[[StoredBaseline], None] | None = None
        """Called with the baseline that is reused."""

    def find(self, tree: str, checks: Sequence[Check], *, reruns: int, ignored: Iterable[str]) -> StoredBaseline | None:
        """The baseline that stands for this tree, if there is one; a damaged file is none."""
        try:
            kept = StoredBaseline.model_validate(json.loads(self._place(tree, checks, reruns).read_bytes()))
        except (OSError, ValueError):
            return None
        now = {path: fact for path, fact in self.facts(ignored).items() if path not in kept.rewritten}
        if now != kept.ignored or not 0 <= time.time() - kept.judged < MAX_AGE:
            return None
        self.seconds = {check.name: result.seconds for check, result in kept.results}
        if self.on_reuse is not None:
            self.on_reuse(kept)
        return kept

    def keep(
        self,
        tree: str,
        results: Sequence[tuple[Check, CommandResult]],
        *,
        reruns: int,
        run_id: str,
        wrote: Sequence[str],
        ignored: Facts,
        installs: Collection[str] = (),
    ) -> None:
        """Keep what the checks said, unless chance had a part in it; `ignored` are the facts from before they ran.

        A disk that is full, or a directory that cannot be written, costs the memory and not the run.
        """
        if any(result.timed_out or result.flaky for _, result in results) or not results:
            return
        after = self.facts(ignored)
        same = {path: fact for path, fact in ignored.items() if after.get(path) == fact}
        results_without_logs = [(check, result.model_copy(update={"log": None})) for check, result in results]
        kept = StoredBaseline(
            run_id=run_id,
            judged=time.time(),
            results=tuple(results_without_logs),
            wrote=tuple(wrote),
            installs=frozenset(installs),
            ignored=same,
            rewritten=frozenset(ignored.keys() - same.keys()),
        )
        content = json.dumps(kept.model_dump(), default=list).encode()  # in ASCII, so that every file name comes back
        if len(content) > LARGEST:
            return
        try:
            write_atomic(self._place(tree, [check for check, _ in results], reruns), content)
            for old in sorted(self.directory.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)[:-KEPT]:
                old.unlink(missing_ok=True)
        except (OSError, KotefError):
            return

    def forget(self) -> None:
        """Drop every baseline of this workspace."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def facts(self, paths: Iterable[str]) -> Facts:
        """Size and time of change of each path (from the workspace root, or absolute) that is there."""
        return {path: fact for path in paths if (fact := _fact(self.root / path))}

    def _place(self, tree: str, checks: Sequence[Check], reruns: int) -> Path:
        facts = (
            tree,
            reruns,
            __version__,
            [check.model_dump() for check in checks],
            sorted(self._env.items()),
            self._confined,
            sorted(self.facts(dict.fromkeys(self._tools(checks))).items()),
        )
        name = hashlib.sha256(json.dumps(facts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return self.directory / f"{name}.json"

    def _tools(self, checks: Sequence[Check]) -> Iterator[str]:
        """The programs that the command lines name, and the packages beside them and in the project's environments."""
        prefixes = [self.root / name for name in _ENVIRONMENTS]
        for word in dict.fromkeys(word for check in checks for word in words_of(check.command)):
            found = str(self.root / word) if "/" in word else shutil.which(word, path=self._env.get("PATH", ""))
            if found and Path(found).is_file():
                yield found
                prefixes.append(Path(found).parent.parent)
        for prefix in dict.fromkeys(prefixes):
            yield str(prefix / "pyvenv.cfg")
            for pattern in _PACKAGES:
                yield from map(str, sorted(prefix.glob(pattern)))
        yield from (str(self.root / name) for name in _INSTALLED)


def _fact(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns
