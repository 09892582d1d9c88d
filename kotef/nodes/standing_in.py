"""How does another state of some files stand in for a while, so that no kill can lose the real one?"""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from kotef.deps import Deps
from kotef.workspace.paths import write_atomic

MARK = "standing-in.json"
"""Written in the run directory while other contents are in place, so that a killed run is put right at resume."""


@contextmanager
def standing_in(
    deps: Deps, *, tree: str, other: str, paths: Collection[str], texts: Mapping[str, bytes] | None = None
) -> Iterator[None]:
    """Inside the block `paths` are as in the tree `other`, and `texts` gives other contents; all else is as in `tree`.

    `tree` is what the workspace is now, as a snapshot, and what it is again afterwards. In place, because editable
    installs point to this very directory.
    """
    texts = texts or {}
    write_atomic(deps.run_dir / MARK, json.dumps({"tree": tree, "paths": [*paths, *texts]}).encode())
    try:
        deps.snapshots.restore(other, last=tree, paths=paths)
        for path, content in texts.items():
            write_atomic(deps.root / path, content, root=deps.root)
        yield
    finally:
        end_standing_in(deps)


def end_standing_in(deps: Deps) -> None:
    """Put the run's own files back where others, of a block that ended or was killed, stand in; otherwise nothing."""
    mark = deps.run_dir / MARK
    if not mark.exists():
        return
    noted = json.loads(mark.read_bytes())
    deps.snapshots.restore(noted["tree"], last=deps.snapshots.take(), paths=noted["paths"])
    mark.unlink()
