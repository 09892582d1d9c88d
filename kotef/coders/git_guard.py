"""Guard that restores the user's git hooks and configuration after the coder's commands."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kotef.checks.types import CommandResult
from kotef.deps import Emit
from kotef.errors import WorkspaceError
from kotef.failures.quoting import plain
from kotef.git import GitHistory, GitState, git_state
from kotef.sandbox import Completed
from kotef.tools.command_outcome import ToolAnswer

ASIDE: Final = "git-put-back"
"""Folder in the run's directory for copies of what was put back."""
_MOST_NAMES: Final = 10
_THEIRS: Final = ".git/hooks and .git/config are the user's"


class GitKept:
    """Remembers them before a command and puts them back after it; one instance per visit.

    While several commands run, what there was before the first of them counts, and the end of each is a moment to put
    it back: the last of them cannot win. What changes while none runs is the user's doing.
    """

    def __init__(self, root: Path, run_dir: Path, emit: Emit, repositories: Sequence[str] = ()) -> None:
        """Nothing is read before the first command; `repositories` are those inside the workspace."""
        self._root, self._aside, self._emit = root, run_dir / ASIDE, emit
        self._places = ("", *repositories)
        self._running = 0
        self._before: dict[str, GitState] = {}

    async def after(self, command: Callable[[], Awaitable[CommandResult]]) -> CommandResult:
        """The result of a command, with a line for the model where something was put back."""
        with self._kept() as notices:
            result = await command()
        return (
            result.model_copy(update={"stderr": "\n".join(filter(None, (result.stderr, *notices)))})
            if notices
            else result
        )

    async def after_checks(self, checks: Callable[[], Awaitable[ToolAnswer]]) -> ToolAnswer:
        """Like `after`, for checks, which run the coder's code."""
        with self._kept() as notices:
            result = await checks()
        return result._replace(text="\n".join((result.text, *notices)))

    async def after_background(self, command: Callable[[], Awaitable[Completed]], log: Path) -> Completed:
        """Like `after`, for a command with its output in `log`, also if it is cancelled; the line is added there."""
        notices: list[str] = []
        try:
            with self._kept() as notices:
                return await command()
        finally:
            if notices:
                with log.open("a", encoding="utf-8") as file:
                    file.writelines(f"\n{line}\n" for line in notices)

    @contextmanager
    def _kept(self) -> Iterator[list[str]]:
        """Yields lines for the model; they are complete after the block."""
        if not self._running:
            found = {path: git_state(self._root / path) for path in self._places}
            self._before = {path: state for path, state in found.items() if state}
        self._running += 1
        notices: list[str] = []
        try:
            yield notices
        finally:
            self._running -= 1
            if notice := self._put_back():
                notices.append(notice)

    def _put_back(self) -> str:
        where = f"after a command of the coder; copies are in {ASIDE}/ of the run"
        return told_of_put_back(_THEIRS, lambda: all_put_back(self._before, self._aside), self._emit, where=where)


def all_put_back(repositories: Mapping[str, GitState | GitHistory], aside: Path) -> tuple[str, ...]:
    """Put back every repository; returns names, with the path first for a repository inside the workspace."""
    found: list[str] = []
    for path, kept in repositories.items():
        names = kept.put_back(aside / path)
        found += [f"{path}: {name}" if path else name for name in names]
    return tuple(found)


def told_of_put_back(theirs: str, put_back: Callable[[], Sequence[str]], emit: Emit, *, where: str) -> str:
    """The line for whoever reads the output of a command that changed what is the user's; empty when none did.

    `put_back` returns the names of what it put back; the person is informed too, including why it could not.
    """
    try:
        names = put_back()
    except WorkspaceError as error:
        text = f"{theirs}, but a command changed something there: {error}"
        emit("notice", text=text)
        return text
    if not names:
        return ""
    more = f"{len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    some = ", ".join(filter(None, (*(plain(name, 80) for name in names[:_MOST_NAMES]), more)))
    text = f"{theirs}: {some} {'was' if len(names) == 1 else 'were'} put back"
    emit("notice", text=f"{text} {where}")
    return text
