"""A view of the workspace as it was at a commit, for one command, without touching any file."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from kotef.errors import UsageError, WorkspaceError
from kotef.git import git, run_git
from kotef.sandbox.sandbox import OFF, Sandbox
from kotef.workspace import BACKUP_LIMIT, Listing, Snapshots, copy_ignored

_ENVIRONMENTS: Final = (".venv", "venv", "env", ".tox", ".nox", "node_modules", "bower_components", "vendor/bundle")
"""Directories that an installation fills; a command sees the workspace's own. At most two levels down."""

_PACKAGES: Final = ("lib/python*/site-packages", "lib/python*/dist-packages", "lib64/python*/site-packages")
_POINTERS: Final = ("*.pth", "*.egg-link", "__editable__*")
_LARGEST: Final = 1024 * 1024
_SECONDS: Final = 20.0

_SCRIPT: Final = """
set -e; copy=$1; root=$2; inner=$3; bound=$4; shift 4
while [ "$bound" -gt 0 ]; do mount --bind "$root/$1" "$copy/$1"; shift; bound=$((bound - 1)); done
if [ -e "$copy/.git" ]; then mount -o remount,bind,ro "$copy/.git" 2>/dev/null || true; fi
mount --rbind "$copy" "$root"
cd "$root"
exec $inner "$@"
"""
"""In a mount namespace of its own: what is installed is bound into the copy, and the copy over the workspace."""


@dataclass(frozen=True, slots=True)
class BaseCheckout:
    """A copy of the workspace at a commit; a command in its `sandbox` sees it instead of the workspace."""

    root: Path
    copy: Path
    bound: tuple[str, ...]
    """Paths that are the workspace's own: environments, and `.git` (read-only)."""
    mounted: bool
    """Whether the copy is at the workspace's own path; if not, commands run in the directory of the copy."""

    @property
    def directory(self) -> Path:
        """Where a command starts."""
        return self.root if self.mounted else self.copy

    def sandbox(self, around: Sandbox) -> Sandbox:
        """`around`, and in it the copy."""
        if self.mounted:
            return _Mounted(around.level, around.confinement, around.limits, place=self)
        if around.confinement is None:
            return around
        readable = (*around.confinement.readable, self.root)  # what is installed is reached by links
        return replace(around, confinement=replace(around.confinement, root=self.copy, readable=readable))

    def words(self, command: Sequence[str]) -> list[str]:
        """What starts a command that sees the copy mounted at the workspace's own path."""
        (program, *options), inner = _way() or (("env",), "")
        way = (shutil.which(program) or program, *options)
        return [*way, "/bin/sh", "-c", _SCRIPT, "sh", *_arguments(self.copy, self.root, inner, self.bound), *command]


@dataclass(frozen=True, slots=True)
class _Mounted(Sandbox):
    """A sandbox that begins where the copy is mounted: what it holds commands to is held of the copy."""

    place: BaseCheckout | None = None

    def within(self, command: Sequence[str], *, cwd: Path) -> list[str]:
        words = Sandbox.within(self, command, cwd=cwd)
        return self.place.words(words) if self.place else words


def _arguments(copy: Path, root: Path, inner: str, bound: Sequence[str]) -> tuple[str, ...]:
    return (str(copy), str(root), inner, str(len(bound)), *bound)


def resolve_commit(root: Path, ref: str) -> str:
    """The commit a person means; UsageError when there is none of that name, or no git."""
    found = run_git(
        ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"], cwd=root, user_config=True
    )
    if found.returncode:
        error = found.stderr.decode("utf-8", "replace").strip()
        problem = "not a git repository" if "not a git repository" in error else "no such commit"
        raise UsageError(f"--against {ref}: {problem}", hint="name a commit, branch or tag; `git fetch` gets more")
    return found.stdout.decode().strip()


@contextmanager
def base_checkout(root: Path, toplevel: Path, commit: str, sandbox: Sandbox = OFF) -> Iterator[BaseCheckout]:
    """The workspace as it was at a commit, in a temporary directory, for the length of the block.

    A copy is sound only where it is at the workspace's own path: editable installs, `.pth` files and scripts of an
    environment point there. So it is mounted there, in a mount namespace that only the wrapped commands see. Where the
    system permits no mounts, commands run in the copy, if nothing that is installed points into the workspace;
    `WorkspaceError` if something does. Landlock forbids every mount, so in a `sandbox` of that level it is the same.
    The user's files, index and repository are only read.

    Limits: submodules are empty, filters (LFS) are not run, files that git does not track are missing except for
    ignored ones outside of build directories; what a check writes into an environment is written into the workspace's
    own.
    """
    mounted = sandbox.level != "landlock" and _way() is not None
    if not mounted and (pointer := next(_points_into(root), None)):
        raise WorkspaceError(
            pointer,
            "points into the workspace, so a copy of it would be judged with the code as it is now",
            hint="allow mounts (unshare, --sandbox bwrap), or check the other state out and judge it there",
        )
    with tempfile.TemporaryDirectory(prefix="kotef-", ignore_cleanup_errors=True) as directory:
        copy = Path(directory) / "copy"
        copy.mkdir()
        _export(root, toplevel, commit, copy, index=Path(directory) / "index")
        copy_ignored(root, Listing(root, Snapshots.open(root).store).ignored(), copy, cap=BACKUP_LIMIT)
        bound = []
        for path in _installed(root):
            if (copy / path).exists() or (copy / path).is_symlink():
                continue
            try:
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError):  # a file became a folder, or the reverse
                continue
            if mounted:
                (copy / path).mkdir() if (root / path).is_dir() else (copy / path).touch()
                bound.append(path)
            else:
                (copy / path).symlink_to(root / path)
        for kept in sandbox.confinement.kept if mounted and sandbox.confinement else ():
            here = copy / kept.relative_to(root) if kept.is_relative_to(root) else copy
            here.parent.mkdir(parents=True, exist_ok=True)
            if kept.is_file() and here != copy:  # the sandbox makes it read-only, so it must exist
                here.touch()
            else:
                here.mkdir(exist_ok=True)
        yield BaseCheckout(Path(os.path.realpath(root)), copy, tuple(bound), mounted)


def _export(root: Path, toplevel: Path, commit: str, copy: Path, *, index: Path) -> None:
    """Write the files of a commit; the index that git needs for it is a temporary one."""
    inside = os.path.relpath(os.path.realpath(root), os.path.realpath(toplevel))
    tree = commit if inside == "." else f"{commit}:{inside}"
    env = {"GIT_INDEX_FILE": str(index)}
    if inside != "." and run_git(["rev-parse", "--verify", "--quiet", tree], cwd=toplevel, user_config=True).returncode:
        return  # the directory is newer than the commit: then it was empty
    git(["read-tree", tree], cwd=toplevel, env=env, user_config=True)
    git(["checkout-index", "--all", "--quiet", f"--prefix={copy}/"], cwd=toplevel, env=env, user_config=True)


def _installed(root: Path) -> list[str]:
    found = [
        path.relative_to(root).as_posix()
        for name in _ENVIRONMENTS
        for pattern in (name, f"*/{name}", f"*/*/{name}")
        for path in sorted(root.glob(pattern))
        if path.is_dir() and not _is_behind_link(path, root)
    ]
    found = [path for path in found if not any(path.startswith(f"{other}/") for other in found)]
    return [*found, *([".git"] if (root / ".git").exists() else [])]


def _is_behind_link(path: Path, root: Path) -> bool:
    """Whether a folder on the path is a link; the environment itself may be one."""
    return any(above.is_symlink() for above in path.parents if above != root and above.is_relative_to(root))


def _points_into(root: Path) -> Iterator[Path]:
    """Installed files and links that lead into the workspace, except for an environment's own."""
    here = re.compile(re.escape(os.path.realpath(root)) + r"(?![\w.-])")
    prefixes = [root / path for path in _installed(root)]
    prefixes += [Path(directory).parent for directory in os.get_exec_path()]
    if environment := os.environ.get("VIRTUAL_ENV"):
        prefixes.append(Path(environment))
    for prefix in dict.fromkeys(prefixes):
        packages = [found for pattern in _PACKAGES for found in prefix.glob(pattern)]
        for file in (found for place in packages for pattern in _POINTERS for found in place.glob(pattern)):
            if file.is_file() and here.search(file.read_bytes()[:_LARGEST].decode("utf-8", "replace")):
                yield file
        for link in (*prefix.glob("*"), *prefix.glob("@*/*")) if prefix.name == "node_modules" else ():
            target = Path(os.path.realpath(link))
            if link.is_symlink() and target.is_relative_to(root) and not target.is_relative_to(prefix):
                yield link


@cache
def _way() -> tuple[tuple[str, ...], str] | None:
    """How a mount namespace is had here: what is in front, and what gives a user back their number inside."""
    uid, gid = os.geteuid(), os.getegid()
    as_user = f"unshare --user --map-user={uid} --map-group={gid} --" if uid else ""
    own = ("unshare", "--user", "--map-root-user", "--mount", "--")
    ways: Sequence[tuple[str, ...]] = (own,) if uid else (("unshare", "--mount", "--"), own)
    for way in ways:
        with tempfile.TemporaryDirectory(prefix="kotef-") as directory:
            one, two = Path(directory) / "one", Path(directory) / "two"
            one.mkdir()
            two.mkdir()
            (one / "there").touch()
            trial = (*way, "/bin/sh", "-c", _SCRIPT, "sh", *_arguments(one, two, as_user, ()), "test", "-e", "there")
            try:
                done = subprocess.run(trial, capture_output=True, timeout=_SECONDS, check=False)
            except (OSError, subprocess.TimeoutExpired):
                continue
            if done.returncode == 0:
                return way, as_user
    return None
