"""Is the user's git history, after each command of a run, as it was before it?"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kotef.coders.git_kept import told_of_put_back
from kotef.deps import Emit
from kotef.errors import WorkspaceError
from kotef.runs.store import RunDir
from kotef.workspace.git_history import GitHistory
from kotef.workspace.git_objects import drop
from kotef.workspace.paths import state_dir

ASIDE: Final = "git-history-put-back"
"""In the directory of a run: copies of what was put back."""
OBJECTS: Final = "git-objects"
"""In the state directory of a workspace, or in that of a run: links to the objects of its git, while a run works."""
_THEIRS: Final = "branches, index and history of git are the user's"


class HistoryKept:
    """Remembers them before a command and puts them back after it, where no sandbox keeps a command from `.git`.

    While several commands run, what there was before the first of them counts, and the end of each is a moment to put
    it back. What changes while none runs is the user's doing.
    """

    def __init__(
        self, root: Path, run: RunDir, emit: Emit, repositories: Callable[[], Sequence[str]] = lambda: ()
    ) -> None:
        """Nothing is read before the first command; `repositories` names those inside the workspace."""
        self._run, self._root = run, root
        self._stores = state_dir(root) / OBJECTS, run.path / OBJECTS
        self._repositories = repositories
        self._histories: dict[str, GitHistory] = {}
        self._aside, self._emit = run.path / ASIDE, emit
        self._running = 0
        self._warned = False

    @contextmanager
    def kept(self) -> Iterator[list[str]]:
        """Yields the lines for whoever reads the command's output; they are there once the block is left."""
        if not self._running:
            self._look()
        self._running += 1
        said: list[str] = []
        try:
            yield said
        finally:
            self._running -= 1
            if told := self._put_back():
                said.append(told)

    def close(self) -> None:
        """The run is over: let go of git's objects."""
        for store in self._stores:
            drop(store)

    def _look(self) -> None:
        if not self._histories:
            places = ("", *self._repositories())
            stores = [tuple(store / str(number) for store in self._stores) for number in range(len(places))]
            self._histories = {
                path: GitHistory(self._root / path, *own) for path, own in zip(places, stores, strict=True)
            }
        try:
            for history in self._histories.values():
                history.look()
        except WorkspaceError as error:
            if not self._warned:
                self._emit("notice", text=f"git's objects are not protected from the commands of this run: {error}")
            self._warned = True

    def _put_back(self) -> str:
        where = f"after a command; copies are in {ASIDE}/ of the run"
        return told_of_put_back(_THEIRS, self._all_put_back, self._emit, where=where)

    def _all_put_back(self) -> tuple[str, ...]:
        """What differed, of a repository inside the workspace with its path in front."""
        found = []
        for path, history in self._histories.items():
            names = history.put_back(self._aside / path)
            found += [f"{path}: {name}" if path else name for name in names]
        return tuple(found)
