"""Confinement: the files and the network that a command may see, and what it may change."""

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from kotef.files import read_regular
from kotef.sandbox.masks import Masks
from kotef.sandbox.private_home import clear_rooms, remove_tree, take_room
from kotef.sandbox.seed import copy_caches
from kotef.sandbox.services import reachable_services
from kotef.sandbox.tool_folders import tool_folders
from kotef.sandbox.toolchains import settle, toolchains, variables
from kotef.workspace import Environments, repositories

HIDDEN: Final = (
    "/home",
    "/root",
    "/run",
    "/tmp",  # noqa: S108  named to be hidden
    "/var/tmp",  # noqa: S108  the same
    "/etc/NetworkManager/system-connections",
    "/etc/credstore",
    "/etc/docker",
    "/etc/kubernetes",
    "/etc/letsencrypt",
    "/etc/openvpn",
    "/etc/rancher",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/wireguard",
    "/var/backups",
    "/var/lib/docker",
    "/var/lib/kubelet",
    "/var/log",
    "/var/spool",
)
"""Folders in which other people's files, secrets of the machine and sockets of its services lie."""
_LONGEST: Final = 8192
"""Bytes of a file that names one path."""
_MASKED: Final = (
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/krb5.keytab",
)


@dataclass(frozen=True, slots=True)
class Confinement:
    """The access of one workspace's commands, which the mechanisms enforce.

    Every path is real and absolute, and was there when this was made. Where two apply the more deeply nested wins.
    """

    root: Path
    """The workspace: readable and writable."""
    kept: tuple[Path, ...]
    """Readable, not writable, although they are inside the workspace: `.git`, `.sdd`. Some may come to be later."""
    masked: tuple[Path, ...]
    """Files and sockets of the machine that are there and empty."""
    masks: Masks = field(compare=False)
    """Files of the workspace and of granted folders that are there and empty."""
    hidden: tuple[Path, ...]
    """Folders that look empty, except for what is named in the other fields."""
    readable: tuple[Path, ...]
    """Readable parts of hidden folders: toolchains, and folders that a person granted."""
    room: Path
    """A folder of this process. Its `home`, `tmp` and `cache` are writable; masked files look like its `empty`."""
    seed: Path
    """Caches that the user's own code filled before the first edit. Read-only; rooms are filled from it."""
    network: bool
    environment: tuple[tuple[str, str], ...]
    """Variables that say so to the commands: where to put caches and temporary files."""
    home: Path
    """The user's real home."""
    given: Mapping[str, str] = field(compare=False)
    """The environment of commands before `environment` is added."""
    environments: Environments = field(compare=False)
    """Installed environments of the workspace that are read-only, after `close_off`."""
    shared: tuple[Path, ...] = ()
    """Files of the real home that may be written: logins of a program that a person chose to start."""
    downloads: Path | None = None
    """Where package managers keep caches and tools in place of the room's cache; it outlives the room."""

    @property
    def writable(self) -> tuple[Path, ...]:
        """Folders a command may write into, `kept` and masked files aside."""
        shared = (path for path in self.shared if path.exists())
        return (self.root, self.temporary, self.cache, self.room / "home", *shared)

    @property
    def cache(self) -> Path:
        """Where package managers of this room keep their caches."""
        return self.downloads or self.room / "cache"

    @property
    def temporary(self) -> Path:
        """Where temporary files of the commands really lie."""
        return self.room / "tmp"

    def hides(self, path: Path) -> bool:
        """Whether commands cannot see what is at this real path."""
        seen = (*self.readable, *self.writable)
        above = [folder for folder in (*self.hidden, *seen) if path.is_relative_to(folder)]
        nearest = max((len(folder.parts) for folder in above), default=0)
        return bool(above) and not any(len(folder.parts) == nearest for folder in above if folder in seen)

    def own(self, cache: Path) -> Path:
        """The private folder that commands of this room see in place of a cache inside an environment."""
        place = self.room / "caches" / hashlib.sha256(os.fsencode(cache)).hexdigest()[:16]
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place

    @property
    def empty(self) -> Path:
        """The file that masked ones look like."""
        return self.room / "empty"

    def with_fresh_room(self) -> "Confinement":
        """The same with a fresh room, without anything that a command left. `leave_room` removes the room."""
        room = take_room(self.room.parent)
        cache = room / "cache"
        copy_caches(self.seed, cache, writable=self.network)
        settle(room / "home", self.home, cache, self.seed, self.given, network=self.network)
        environment = _environment(room, cache, self.home, self.seed, self.given, network=self.network)
        return replace(self, room=room, downloads=None, environment=environment)

    def with_downloads(self, downloads: Path) -> "Confinement":
        """The same with a fresh room whose package managers write into `downloads`, for a program a person chose.

        `downloads` exists and is real. The program may have changed what is in it at an earlier start. `leave_room`
        removes the room, and leaves `downloads`. Raises OSError where a folder in it cannot be used.
        """
        room = take_room(self.room.parent)
        settle(room / "home", self.home, downloads, self.seed, self.given, network=self.network)
        usual = _environment(room, downloads, self.home, self.seed, self.given, network=self.network)
        environment = (*usual, *tool_folders(downloads, self.home, self.given).items())
        return replace(self, room=room, downloads=downloads, environment=environment)


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
    in the workspace that git tracks: a key among them is not a secret.
    """
    root, home = Path(os.path.realpath(root)), Path(os.path.realpath(env.get("HOME") or "/nonexistent"))
    scratch = Path(os.path.realpath(scratch))
    seed = scratch / "seed"
    for folder in (scratch, seed):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    clear_rooms(scratch)
    remove_tree(scratch / "cache")  # of an earlier kotef, in which all commands could write it
    room = take_room(scratch)
    settle(room / "home", home, room / "cache", seed, env, network=network)
    hidden = tuple(path for path in _there((*map(Path, HIDDEN), home, scratch.parents[1])) if path != Path("/"))
    around = _repository_around(root, home)
    tracked = {root / name for name in public}
    granted = _there((*toolchains(env, home, root, public=tracked), *reads, *around, *_resolver(network=network)))
    return Confinement(
        root=root,
        kept=_kept(root),
        masked=tuple(
            path for path in _there((*map(Path, _MASKED), *reachable_services())) if not _below_any(path, hidden)
        ),
        masks=Masks((root, *reads, *around), tracked, shown=reads),
        hidden=hidden,
        readable=(*(path for path in granted if _below_any(path, hidden)), seed),
        room=room,
        seed=seed,
        network=network,
        environment=_environment(room, room / "cache", home, seed, env, network=network),
        home=home,
        given=dict(env),
        environments=Environments(root),
    )


def _environment(
    room: Path, cache: Path, home: Path, seed: Path, env: Mapping[str, str], *, network: bool
) -> tuple[tuple[str, str], ...]:
    """Variables that point the commands of a room to its folders."""
    return (("TMPDIR", str(room / "tmp")), *variables(cache, home, room / "home", seed, env, network=network).items())


def _there(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The real paths of those that exist, each once, in order of depth."""
    found = {Path(os.path.realpath(path)) for path in paths if os.access(path, os.F_OK)}
    return tuple(sorted(found, key=lambda path: (len(path.parts), path)))


def _below_any(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _repository_around(root: Path, home: Path) -> tuple[Path, ...]:
    """The repository the workspace is a folder of: its packages and its history belong to the project.

    Unless the whole home is one.
    """
    for above in root.parents:
        if (above / ".git").exists():
            return () if home.is_relative_to(above) else (above,)
    return ()


def _kept(root: Path) -> tuple[Path, ...]:
    """Git's own files, wherever they are, including those of repositories inside, and kotef's."""
    git = root / ".git"
    inside = (root / path / ".git" for path in repositories(root).kept)
    found = []
    if git.is_file():  # of a worktree or a submodule: it names the place, gitrepository-layout(5)
        pointer = _pointer(git)
        own = root / pointer.removeprefix("gitdir:").strip()
        common = own / "commondir"
        found += [own, own / _pointer(common)] if common.is_file() else [own]
    elif git.is_symlink():
        found.append(git)
    real = (path for path in _there(found) if not root.is_relative_to(path) and os.access(path / "HEAD", os.R_OK))
    return (git, root / ".sdd", *real, *inside)


def _pointer(file: Path) -> str:
    """The path that a pointer file contains; empty if the file cannot be read or is longer than any path."""
    try:
        return read_regular(file, largest=_LONGEST).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _resolver(*, network: bool) -> tuple[Path, ...]:
    """What name resolution reads where it is in a hidden folder, as with systemd-resolved."""
    return (Path("/etc/resolv.conf"),) if network else ()
