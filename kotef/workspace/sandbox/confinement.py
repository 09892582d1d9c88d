"""Which files and which network may a command see, and which may it change?"""

import os
import stat
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kotef.workspace.listing import REBUILT
from kotef.workspace.paths import holds_secrets
from kotef.workspace.sandbox.toolchains import settle, toolchains, variables

HIDDEN: Final = (
    "/home",
    "/root",
    "/run",
    "/tmp",  # noqa: S108  named to be hidden
    "/var/tmp",  # noqa: S108  the same
    "/etc/kubernetes",
    "/etc/ssh",
    "/etc/ssl/private",
    "/var/lib/docker",
    "/var/lib/kubelet",
)
"""Folders in which other people's files, secrets of the machine and sockets of its services lie."""
_MASKED: Final = ("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers")
_MOST_ENTRIES: Final = 200_000
"""Entries of the workspace that are looked at for files with secrets."""

_KEY_HEAD: Final = 4096
"""Bytes in which a key says that it is private."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """What one workspace's commands get; the mechanisms only carry it out.

    Every path is real and absolute, and was there when this was made. Where two apply the more deeply nested wins.
    """

    root: Path
    """The workspace: readable and writable."""
    kept: tuple[Path, ...]
    """Readable, not writable, although they lie inside the workspace: `.git`, `.sdd`."""
    masked: tuple[Path, ...]
    """Files that are there and empty."""
    hidden: tuple[Path, ...]
    """Folders that look empty, but for what is named in the other fields."""
    readable: tuple[Path, ...]
    """What of the hidden folders may be read and run: toolchains, roots the person granted."""
    scratch: Path
    """A folder of kotef's that stands for the temporary directory; its `tmp` is writable, and its `cache`."""
    network: bool
    environment: tuple[tuple[str, str], ...]
    """Variables that say so to the commands: where to put caches and temporary files."""

    @property
    def writable(self) -> tuple[Path, ...]:
        """Folders a command may write into, `kept` and `masked` aside."""
        return (self.root, self.temporary, self.cache, self.scratch / "home")

    @property
    def temporary(self) -> Path:
        """Where temporary files of the commands really lie."""
        return self.scratch / "tmp"

    @property
    def empty(self) -> Path:
        """The file that masked ones look like."""
        return self.scratch / "empty"

    @property
    def cache(self) -> Path:
        """Where package managers keep what they may use again."""
        return self.scratch / "cache"


def confine(
    root: Path,
    scratch: Path,
    env: Mapping[str, str],
    *,
    network: bool = False,
    reads: Collection[Path] = (),
    public: Collection[str] = (),
) -> Confinement:
    """What the commands of the workspace get; `scratch`, below its folder in kotef's state, is made for us alone.

    `env` is the environment the commands will have, `reads` are folders a person granted to be read, `public` are paths
    in the workspace that git tracks: a key among them is no secret.
    """
    root, home = Path(os.path.realpath(root)), Path(os.path.realpath(env.get("HOME") or "/nonexistent"))
    for folder in (scratch, scratch / "tmp", scratch / "cache", scratch / "home"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (scratch / "empty").touch(mode=0o400)
    scratch = Path(os.path.realpath(scratch))
    settle(scratch / "home", home)
    hidden = _there((*map(Path, HIDDEN), home, scratch.parents[1]))
    granted = _there((*toolchains(env, home), *reads, *_resolver(network=network)))
    return Confinement(
        root=root,
        kept=_kept(root),
        masked=(*_there(map(Path, _MASKED)), *_secrets_in((root, *reads), {root / name for name in public})),
        hidden=tuple(folder for folder in hidden if folder != Path("/")),
        readable=tuple(path for path in granted if _below_any(path, hidden)),
        scratch=scratch,
        network=network,
        environment=(("TMPDIR", str(scratch / "tmp")), *variables(scratch / "cache", home, scratch / "home").items()),
    )


def _there(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The real paths of those that exist, each once, in order of depth."""
    found = {Path(os.path.realpath(path)) for path in paths if path.exists()}
    return tuple(sorted(found, key=lambda path: (len(path.parts), path)))


def _below_any(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _kept(root: Path) -> tuple[Path, ...]:
    """Git's own files, wherever they lie, and kotef's."""
    git = root / ".git"
    found = [git, root / ".sdd"]
    if git.is_file():  # of a worktree or a submodule: it names the place, gitrepository-layout(5)
        pointer = git.read_text(encoding="utf-8", errors="replace")
        own = root / pointer.removeprefix("gitdir:").strip()
        common = own / "commondir"
        found += [own, own / common.read_text(encoding="utf-8").strip()] if common.is_file() else [own]
    return tuple(path for path in _there(found) if not root.is_relative_to(path))


def _resolver(*, network: bool) -> tuple[Path, ...]:
    """What name resolution reads where it lies in a hidden folder, as with systemd-resolved."""
    return (Path("/etc/resolv.conf"),) if network else ()


def _secrets_in(roots: Iterable[Path], public: Collection[Path]) -> tuple[Path, ...]:
    """Files below `roots` that hold secrets: environment files by their name, keys by their content as well."""
    found, seen = [], 0
    for root in roots:
        for place, folders, files in os.walk(root):
            folders[:] = [name for name in folders if name not in REBUILT and name != ".git"]
            seen += len(files)
            paths = [Path(place, name) for name in files if holds_secrets(name)]
            found += [path for path in paths if _is_file(path) and (_is_environment(path) or _is_key(path, public))]
            if seen > _MOST_ENTRIES:
                return tuple(found)
    return tuple(found)


def _is_file(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def _is_environment(path: Path) -> bool:
    return path.name.casefold().startswith(".env")


def _is_key(path: Path, public: Collection[Path]) -> bool:
    """Certificates lie in files of the same names, and keys of a test suite are for everybody to see."""
    if path in public:
        return False
    try:
        with path.open("rb") as file:
            start = file.read(_KEY_HEAD)
    except OSError:  # nor can a command read it
        return False
    return b"-----BEGIN" not in start or b"PRIVATE KEY" in start
