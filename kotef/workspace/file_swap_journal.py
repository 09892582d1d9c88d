"""The journal of temporarily replaced files, so that no kill can lose the real ones."""

import hashlib
import json
import shutil
import stat
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from kotef.files import move_out, permissions_of, write_atomic
from kotef.workspace.file_entry import EXECUTABLE, PLAIN, delete_empty, write_entry
from kotef.workspace.snapshots import Restored, Snapshots

SWAP_MARK: Final = "standing-in.json"
"""Written in the run directory while other contents are in place, so that a killed run can be put right."""

ASIDE: Final = "aside"
"""Directory of the run that holds, meanwhile, the real contents of files that no snapshot holds."""

HIDDEN_FILES: Final = "hidden"
"""Directory of the run for files that no snapshot holds and that the workspace has lost to the run's rules."""


def begin_file_swap(
    run_dir: Path,
    snapshots: Snapshots,
    *,
    tree: str,
    other: str,
    paths: Collection[str],
    texts: Mapping[str, bytes],
    unheld: Mapping[str, bytes | None],
) -> None:
    """Make `paths` as in the tree `other`, and give `texts` and `unheld` these contents; all else is as in `tree`.

    `unheld` are files that no snapshot holds, with what they hold meanwhile: None is for "not there".
    """
    modes = {path: permissions_of(snapshots.root / path) for path in (*paths, *texts)}
    noted = {
        "tree": tree,
        "other": other,
        "paths": [*paths],
        "texts": {path: _digest(content) for path, content in texts.items()},
        "unheld": {path: None if content is None else _digest(content) for path, content in unheld.items()},
        "modes": {path: mode for path, mode in modes.items() if mode is not None},
    }
    write_atomic(run_dir / SWAP_MARK, json.dumps(noted).encode())
    snapshots.restore(other, last=tree, paths=paths)
    for path, content in texts.items():
        write_atomic(snapshots.root / path, content, root=snapshots.root)
    for path, old in unheld.items():
        move_to_run(snapshots.root, path, run_dir / ASIDE)
        if old is not None:
            write_entry(snapshots.root, path, PLAIN, old)


def end_file_swap(run_dir: Path, snapshots: Snapshots, *, killed: bool) -> Restored | None:
    """Put the real files back where others stand in; None when nothing does.

    A file that is neither what stood in nor the real one was changed meanwhile. After a kill it is someone's work, and
    left; without one it is most likely the checks', gives way, and is kept in `stood-in.patch` of the run.
    """
    mark = run_dir / SWAP_MARK
    if not mark.exists():
        return None
    noted = json.loads(mark.read_bytes())
    tree, last = noted["tree"], snapshots.take()
    untouched = [path for path, digest in noted["texts"].items() if _holds(snapshots.root / path, digest)]
    others = [path for path in noted["texts"] if path not in untouched]
    modes = noted.get("modes", {})
    done = [
        snapshots.restore(tree, last=noted["other"], paths=noted["paths"], modes=modes),
        snapshots.restore(tree, last=last, paths=untouched, modes=modes),
        snapshots.restore(tree, last=tree, paths=others, modes=modes),
    ]
    changed = [path for restored in done for path in restored.left]
    if changed and not killed:
        kept = snapshots.patch(tree, last)
        (run_dir / "stood-in.patch").write_text(kept, encoding="utf-8", errors="surrogateescape")
        done.append(snapshots.restore(tree, last=last, paths=changed, modes=modes))
        changed = list(done[-1].left)
    renewed = _brought_back(snapshots.root, run_dir, noted["unheld"])
    mark.unlink()
    shutil.rmtree(run_dir / ASIDE, ignore_errors=True)
    put_back = sorted({path for restored in done for path in restored.put_back})
    return Restored(tuple(put_back), tuple(sorted([*changed, *(renewed if killed else ())])))


def unfinished_file_swaps(runs: Path) -> Sequence[Path]:
    """Run directories below `runs` whose run was killed while other contents stood in; `end_file_swap` repairs them."""
    return sorted(mark.parent for mark in runs.glob(f"*/{SWAP_MARK}"))


def move_to_run(root: Path, path: str, directory: Path) -> None:
    """Move a file of the workspace below a directory of the run; nothing when it is gone."""
    with suppress(FileNotFoundError, NotADirectoryError):
        move_out(root, path, directory / path)
        delete_empty(root, path)


def _brought_back(root: Path, run_dir: Path, unheld: Mapping[str, str | None]) -> list[str]:
    """Move files that were aside back; where something new is they stay with the run, in `hidden/`, and are named."""
    renewed = []
    for path, digest in unheld.items():
        real = run_dir / ASIDE / path
        if not real.exists():
            continue
        if (root / path).exists() and not (digest and _holds(root / path, digest)):
            if not _holds(root / path, _digest(real.read_bytes())):
                move_to_run(run_dir / ASIDE, path, run_dir / HIDDEN_FILES)
                renewed.append(path)
            continue
        mode = permissions_of(real) or 0
        write_entry(root, path, EXECUTABLE if mode & stat.S_IXUSR else PLAIN, real.read_bytes(), mode)
    return renewed


def _holds(path: Path, digest: str) -> bool:
    """Whether a file holds what stood in."""
    try:
        return _digest(path.read_bytes()) == digest
    except OSError:
        return False


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
