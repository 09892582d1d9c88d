"""Protection of git's history and `.sdd` where no sandbox makes them read-only: restored after each command."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kotef.coders.git_guard import all_put_back, told_of_put_back
from kotef.deps import Emit
from kotef.errors import WorkspaceError
from kotef.files import FolderCopy, state_dir
from kotef.git import GitHistory, drop_kept_objects
from kotef.runs.store import RunDir

ASIDE: Final = "git-history-put-back"
"""Folder in the run's directory for copies of what was put back."""
OBJECTS: Final = "git-objects"
"""In the state directory of a workspace, or in that of a run: links to the objects of its git, while a run works."""
SDD_ASIDE: Final = "sdd-put-back"
"""Folder in the run's directory for copies of what was replaced in `.sdd`."""
_THEIRS: Final = "branches, index and history of git are the user's"
_SDD: Final = ".sdd"
_SDD_IS: Final = "commands may not change .sdd"


class HistoryKept:
    """Remembers both before a command and puts them back after it.

    While several commands run, the state before the first of them is restored after each of them. Changes made while
    no command runs are the user's. A change that a person makes in `.sdd` while a command runs cannot be distinguished
    from the command's: a copy of it is kept, and a notice names it.
    """

    def __init__(
        self, root: Path, run: RunDir, emit: Emit, repositories: Callable[[], Sequence[str]] = lambda: ()
    ) -> None:
        """Nothing is read before the first command; `repositories` returns those inside the workspace."""
        self._run, self._root = run, root
        self._stores = state_dir(root) / OBJECTS, run.path / OBJECTS
        self._repositories = repositories
        self._histories: dict[str, GitHistory] = {}
        self._sdd = FolderCopy(root, _SDD, without=("runs",))
        self._emit = emit
        self._running = 0
        self._warned = set[str]()

    @contextmanager
    def kept(self) -> Iterator[list[str]]:
        """Yields lines for the command's output; they are complete after the block."""
        if not self._running:
            self._look()
        self._running += 1
        notices: list[str] = []
        try:
            yield notices
        finally:
            self._running -= 1
            sdd = self._put_back(_SDD_IS, self._sdd.put_back, SDD_ASIDE)
            history = self._put_back(_THEIRS, lambda aside: all_put_back(self._histories, aside), ASIDE)
            notices += filter(None, (sdd, history))

    def close(self) -> None:
        """Release git's objects at the end of the run."""
        for store in self._stores:
            drop_kept_objects(store)

    def _look(self) -> None:
        if not self._histories:
            places = ("", *self._repositories())
            stores = [tuple(store / str(number) for store in self._stores) for number in range(len(places))]
            self._histories = {
                path: GitHistory(self._root / path, *own) for path, own in zip(places, stores, strict=True)
            }
        looks = [("git's objects are", history.look) for history in self._histories.values()]
        for what, look in (*looks, (f"{_SDD} is", self._sdd.look)):
            try:
                look()
            except WorkspaceError as error:
                if what not in self._warned:
                    self._emit("notice", text=f"{what} not protected from the commands of this run: {error}")
                self._warned.add(what)

    def _put_back(self, theirs: str, put_back: Callable[[Path], Sequence[str]], aside: str) -> str:
        place = self._run.path / aside
        where = f"after a command; copies of the replaced files are in {place}"
        return told_of_put_back(theirs, lambda: put_back(place), self._emit, where=where)
