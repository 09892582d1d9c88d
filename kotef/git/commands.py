"""git commands that run nothing the repository configures."""

import errno
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Final

from kotef.errors import NoSpaceError, WorkspaceError
from kotef.git.layout import awaited_pipe, pinned

_SECONDS: Final = 300.0
"""A git that takes longer hangs: on a network file system, or on something no one answers."""

_PATIENCE: Final = 3.0
"""Seconds after which kotef checks whether git is waiting for a pipe."""

_CONFIG: Final = {
    "core.fsmonitor": "",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.quotePath": "false",  # names are shown as they are; control characters and quotes stay escaped
    "core.attributesFile": "/dev/null",
    "core.alternateRefsCommand": "true",
    "safe.bareRepository": "explicit",  # files of the workspace may look like one
    "diff.external": "",
    "diff.orderFile": "/dev/null",
    "diff.submodule": "short",
    "blame.ignoreRevsFile": "",
    "format.pretty": "medium",  # `%G?` in it checks a signature
    "gpg.program": "false",
    "gpg.openpgp.program": "false",
    "gpg.x509.program": "false",
    "gpg.ssh.program": "false",
    "log.showSignature": "false",
    "status.submoduleSummary": "false",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
"""Set for every call, above whatever the repository says: each of these can name a program or start one."""

_ENVIRONMENT: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone fetches what it lacks, through a program its configuration names
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}

_NO_USER_CONFIG: Final = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}

_NO_PROGRAMS: Final = ("--no-ext-diff", "--no-textconv")
_NO_SUBMODULES: Final = "--ignore-submodules=dirty"  # a submodule has a configuration of its own
_OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    "status": (_NO_SUBMODULES,),
    "diff": (*_NO_PROGRAMS, _NO_SUBMODULES),
    "diff-files": (*_NO_PROGRAMS, _NO_SUBMODULES),
    "diff-index": (*_NO_PROGRAMS, _NO_SUBMODULES),
    "diff-tree": _NO_PROGRAMS,
    "log": _NO_PROGRAMS,
    "show": _NO_PROGRAMS,
    "blame": ("--no-textconv",),
}
"""What no configuration can switch off for good."""

_READS_NO_FILES: Final = frozenset(
    {"rev-parse", "ls-files", "ls-tree", "cat-file", "diff-tree", "log", "show", "config", "check-ignore", "init"}
    | {"update-index", "write-tree", "hash-object"}
)
"""Commands that put no file through a filter; `update-index` and `hash-object` would, but only our own
store, which has none, sees them."""

_NO_REPOSITORY: Final = (b"not a git repository", b"must be run in a work tree", b"cannot use bare repository")

_FULL: Final = re.compile(rb"No space left on device|Disk quota exceeded")


@dataclass(frozen=True, slots=True)
class GitFacts:
    """What git says about a directory; everything is empty when it is in no working tree."""

    is_repo: bool
    toplevel: Path | None = None
    """The real path of the working tree; the directory itself or one above it."""
    head: str | None = None
    """The commit checked out; None before the first commit."""
    branch: str | None = None
    """None when HEAD is detached; before the first commit, the branch that will be born."""
    dirty: bool = False
    """Something is staged, changed or untracked; filters are not run, so a file they would clean counts as changed."""

    @property
    def has_commits(self) -> bool:
        """Whether HEAD is a commit."""
        return self.head is not None


def git(
    args: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    check: bool = True,
    user_config: bool = False,
) -> bytes:
    """Run `git *args`, the command first, in `cwd` and return its stdout.

    Hooks, filters, drivers, pagers, file-system monitors and transports that the repository configures are not run;
    it keeps to the working tree around `cwd`. Every `GIT_*` of our own environment is dropped, `env` is added.
    `user_config` reads the user's and the machine's configuration (ignored files, safe directories). With `check` false
    a failure is not an error: stdout as it is.

    Raises `WorkspaceError` when git is missing, hangs or (with `check`) fails, `NoSpaceError` when the disk is full.
    """
    result = run_git(args, cwd=cwd, env=env, stdin=stdin, user_config=user_config)
    if check and result.returncode:
        raise git_error(result, args, cwd)
    return result.stdout


def run_git(
    args: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    user_config: bool = False,
    config: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Like `git`, for a caller that needs the exit status.

    `config` is above all else: what someone answers for who has looked at where it comes from.
    """
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = outside | _ENVIRONMENT | ({} if user_config else _NO_USER_CONFIG) | dict(env or {})
    command, *options = args
    if {"GIT_DIR", "GIT_WORK_TREE"}.isdisjoint(environment) and command != "init":
        environment |= pinned(cwd)
    if command not in _READS_NO_FILES:
        environment |= _without_filters(_run(["config", "-z", "--name-only", "--list"], cwd, environment, None).stdout)
    return _run([command, *_OPTIONS.get(command, ()), *options], cwd, environment, stdin, config or {})


def git_error(result: subprocess.CompletedProcess[bytes], args: Sequence[str], cwd: Path) -> WorkspaceError:
    """What a failed git call means, in the words of git."""
    if _FULL.search(result.stderr):
        return NoSpaceError(cwd)
    lines = result.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit status {result.returncode}"]
    fatal_line = next((line for line in reversed(lines) if line.startswith("fatal:")), lines[0])
    hint = f"run `git {args[0]}` there to see it"
    if "dubious ownership" in fatal_line:
        hint = f"if you trust it: git config --global --add safe.directory {cwd}"
    return WorkspaceError(cwd, f"git {args[0]} failed: {fatal_line.removeprefix('fatal: ')}", hint=hint)


def toplevel(root: Path) -> Path | None:
    """The real path of the working tree around a directory; None if there is none (or in a bare repository).

    Raises `WorkspaceError` when git is missing, or finds a repository it cannot read or does not trust.
    """
    where = ["rev-parse", "--show-toplevel"]
    found = run_git(where, cwd=root, user_config=True)
    if not found.returncode:
        return Path(os.fsdecode(found.stdout.removesuffix(b"\n")))
    if any(words in found.stderr for words in _NO_REPOSITORY):
        return None
    raise git_error(found, where, root)


def inspect(root: Path) -> GitFacts:
    """What git knows about a directory; outside a working tree (or in a bare repository) it is not a repository.

    Raises `WorkspaceError` when git is missing, or finds a repository it cannot read or does not trust.
    """
    top = toplevel(root)
    if top is None:
        return GitFacts(is_repo=False)
    status = git(
        ["status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--untracked-files=normal"],
        cwd=root,
        user_config=True,
    )
    lines = status.decode("utf-8", "surrogateescape").split("\0")
    facts = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# "))
    head, branch = facts.get("branch.oid"), facts.get("branch.head")
    return GitFacts(
        is_repo=True,
        toplevel=top,
        head=None if head == "(initial)" else head,
        branch=None if branch == "(detached)" else branch,
        dirty=any(line and not line.startswith("# ") for line in lines),
    )


def _run(
    args: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    stdin: bytes | None,
    config: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.CompletedProcess[bytes]:
    fixed = [word for name, value in {**_CONFIG, **config}.items() for word in ("-c", f"{name}={value}")]
    command = ["git", "--no-pager", *fixed, *args]
    try:
        return _ended(command, cwd, environment, b"" if stdin is None else stdin)
    except FileNotFoundError as error:
        if not cwd.is_dir():
            raise WorkspaceError(cwd, "is not a directory", hint="choose another --root") from error
        raise WorkspaceError("git", "not found on PATH", hint="install git: kotef uses it for snapshots") from error
    except subprocess.TimeoutExpired as error:
        raise WorkspaceError(cwd, f"git {args[0]} took more than {_SECONDS:.0f} s", hint="check the disk") from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise NoSpaceError(cwd) from error
        raise WorkspaceError(cwd, f"git cannot be started: {error.strerror}", hint="check git and the disk") from error


def _ended(
    command: list[str], cwd: Path, environment: Mapping[str, str], stdin: bytes
) -> subprocess.CompletedProcess[bytes]:
    """Run git to its end; it reads its input from a file.

    `communicate` writes no more of an input once its first timeout has passed, and git would wait for the rest.
    """
    if not stdin:
        return _waited_for(command, cwd, environment, subprocess.DEVNULL)
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        return _waited_for(command, cwd, environment, given)


def _waited_for(
    command: list[str], cwd: Path, environment: Mapping[str, str], stdin: int | IO[bytes]
) -> subprocess.CompletedProcess[bytes]:
    """Wait until git ends; kill it if it waits for a pipe or takes too long."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=cwd, env=environment, stdin=stdin, stdout=pipe, stderr=pipe) as process:
        try:
            try:
                stdout, stderr = process.communicate(timeout=_PATIENCE)
            except subprocess.TimeoutExpired:
                if waited := awaited_pipe(cwd):
                    raise WorkspaceError(waited, "is a pipe, and git waits for it", hint="remove it") from None
                stdout, stderr = process.communicate(timeout=_SECONDS - _PATIENCE)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def _without_filters(names: bytes) -> dict[str, str]:
    """Configuration, as environment variables, that empties every filter the configured names mention."""
    keys = sorted(
        {
            name
            for name in os.fsdecode(names).split("\0")
            if name.startswith("filter.") and name.endswith((".clean", ".smudge", ".process", ".required"))
        }
    )
    settings = {"GIT_CONFIG_COUNT": str(len(keys))}
    for number, key in enumerate(keys):
        settings[f"GIT_CONFIG_KEY_{number}"] = key
        settings[f"GIT_CONFIG_VALUE_{number}"] = "false" if key.endswith(".required") else ""
    return settings
