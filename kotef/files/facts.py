"""Facts about a path: links are not followed, nothing is opened, and a missing path is not an error."""

import os
import stat
from pathlib import Path

from kotef.files.safe_open import parent_within


def facts_of(path: Path | str) -> os.stat_result | None:
    """What `lstat` says; None if nothing is, or nothing that we may look at."""
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


def facts_within(root: Path, path: str) -> os.stat_result | None:
    """The same of a path of the workspace: nothing is there where a folder on the way to it is a link."""
    try:
        with parent_within(root, path.rstrip("/")) as (folder, name):
            return os.lstat(name, dir_fd=folder)
    except (OSError, ValueError):
        return None


def is_folder(path: Path | str) -> bool:
    """Whether it is a folder; a link to one is not."""
    facts = facts_of(path)
    return facts is not None and stat.S_ISDIR(facts.st_mode)


def permissions_of(path: Path | str) -> int | None:
    """The permission bits of a regular file; None for anything else."""
    facts = facts_of(path)
    return stat.S_IMODE(facts.st_mode) if facts is not None and stat.S_ISREG(facts.st_mode) else None
