"""Recovery of user files that a killed run left replaced; the run itself resumes in `start.py`."""

from pathlib import Path

from kotef.errors import WorkspaceError
from kotef.failures.plural import counted
from kotef.runs.store import runs_dir
from kotef.workspace import SWAP_MARK, Snapshots, end_file_swap, unfinished_file_swaps, workspace_lock


def put_right(root: Path, *, but: Path | None = None) -> tuple[str, ...]:
    """Restore the files that killed runs left replaced, before anything else happens here; a line for each run.

    `but` is the directory of a run that is about to continue, and does it itself. A file that someone changed since is
    left as it is, and named. Raises BusyError while a run is at work, WorkspaceError where the real files cannot be
    had: then everything here would be judged, or kept, as it never was.
    """
    if not [directory for directory in unfinished_file_swaps(runs_dir(root)) if directory != but]:
        return ()
    with workspace_lock(root, "put right"):
        snapshots = Snapshots.open(root)
        return tuple(
            _ended(directory, snapshots) for directory in unfinished_file_swaps(runs_dir(root)) if directory != but
        )


def _ended(directory: Path, snapshots: Snapshots) -> str:
    try:
        ended = end_file_swap(directory, snapshots, killed=True)
    except (WorkspaceError, OSError, ValueError, KeyError, TypeError) as error:
        files = f"the files with which run {directory.name} had replaced yours when it was killed"
        problem = f"{files} cannot be removed: {error}"
        hint = "correct the files by hand (`git status`), then delete this file"
        raise WorkspaceError(directory / SWAP_MARK, problem, hint=hint) from error
    back, left = (ended.put_back, ended.left) if ended else ((), ())
    notice = f"run {directory.name} was killed during a second judgement; {counted(len(back), 'file')} put back"
    return f"{notice}, kept changes made since: {', '.join(left[:8])}" if left else notice
