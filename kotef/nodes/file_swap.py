"""Temporary replacement of some files by another state, and recovery after a kill."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from kotef.deps import RunContext
from kotef.workspace import begin_file_swap, end_file_swap


@contextmanager
def standing_in(
    context: RunContext,
    *,
    tree: str,
    other: str,
    paths: Collection[str],
    texts: Mapping[str, bytes] | None = None,
    unheld: Mapping[str, bytes | None] | None = None,
) -> Iterator[None]:
    """Inside the block `paths` are as in the tree `other`, and `texts` gives other contents; all else is as in `tree`.

    `tree` is what the workspace is now, as a snapshot, and what it is again afterwards; `unheld` gives other contents
    to files that no snapshot holds. In place, because editable installs point to this very directory.
    """
    try:
        begin_file_swap(
            context.run_dir,
            context.snapshots,
            tree=tree,
            other=other,
            paths=paths,
            texts=texts or {},
            unheld=unheld or {},
        )
        yield
    finally:
        end_file_swap(context.run_dir, context.snapshots, killed=False)


def end_standing_in(context: RunContext) -> tuple[str, ...]:
    """Put the real files back where others, of a block that was killed, stand in; returns what was left, see `end`."""
    ended = end_file_swap(context.run_dir, context.snapshots, killed=True)
    if ended is None or not ended.left:
        return ()
    context.emit("notice", text=f"kept changes made after the run was killed: {', '.join(ended.left[:8])}")
    return ended.left
