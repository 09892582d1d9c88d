"""Validation of the paths where the user wants output written."""

from pathlib import Path

from kotef.errors import UsageError


def must_be_plain(option: str, path: Path) -> None:
    """UsageError for a link, a pipe or a device: a file is written by replacing it, and `/dev/null` is to stay."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise UsageError(f"{option} {path}: not a regular file, and it would be replaced", hint="name a plain file")
