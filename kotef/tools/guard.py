"""Files that the coder must not change, and the answer when it tries."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kotef.files import matches_globs


class FileGuard(Protocol):
    """Says which files of the workspace this run may change."""

    def may_edit(self, path: str) -> str | None:
        """None if it may be edited; else the reason and the way out, for the model. `path` starts at the workspace."""


@dataclass(frozen=True)
class EditGuard:
    """The guard of a run: files that judge it, and paths the project forbids."""

    protected: frozenset[str]
    """Paths that judge the run, without those that ticket and `--allow-edits` open."""
    forbidden: Sequence[str] = ()
    """Globs and directories from KOTEF.md, one without `/` at any depth; nothing lifts them."""
    environment: Callable[[str], str] = field(default=lambda _: "", compare=False)
    """Path → the installed environment that contains it; empty if none does."""
    allowed: Sequence[str] = ()
    """Globs that ticket and `--allow-edits` open, also the judging tables of shared files."""

    def may_edit(self, path: str) -> str | None:
        """None if it may be changed; else why not. Forbidden comes first: no permission helps there."""
        for glob in self.forbidden:
            anywhere = () if "/" in glob.strip("/") else (f"**/{glob}",)
            if matches_globs(path, (glob, *anywhere)):
                return f"{path} is forbidden by KOTEF.md ({glob}); solve the task without changing it"
        if installed := self.environment(path):
            return (
                f"{path} is in {installed}, an installed environment, which the checks use. Change the project's "
                "own code or its lock file. A person can let commands install with `--allow-install`"
            )
        if path in self.protected:
            return (
                f"{path} is protected: it judges this run, and an edit would be put back. Change the code it tests, or "
                "add a new test file. A person can permit it with `allow test edits:` in the ticket or "
                f"`--allow-edits {path}`"
            )
        return None

    def allows(self, path: str) -> bool:
        """Whether a person opened this path."""
        return matches_globs(path, self.allowed)
