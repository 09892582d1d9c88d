"""Folders of tools that package managers install to run once: `uvx`, `pipx run`, `pnpm dlx`, `bunx`, `deno run`."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_PYTHONS: Final = "uv-python"
_FOLDERS: Final = {
    "UV_TOOL_DIR": "uv-tools",
    "UV_TOOL_BIN_DIR": "uv-bin",
    "UV_PYTHON_INSTALL_DIR": _PYTHONS,
    "UV_PYTHON_BIN_DIR": "uv-bin",
    "PIPX_HOME": "pipx",
    "PIPX_BIN_DIR": "pipx-bin",
    "npm_config_store_dir": "pnpm-store",
    "BUN_INSTALL_CACHE_DIR": "bun",
    "DENO_DIR": "deno",
}
"""Variable → folder, by the documentation of each program; a list, because each names its place in its own way.

`npx` needs none beside that of its cache.
"""


def tool_folders(place: Path, home: Path, env: Mapping[str, str]) -> dict[str, str]:
    """Variables that point those programs to folders below `place`, where the real ones may only be read.

    The interpreters that uv installed for the person are linked there, or it would download them again. Raises OSError
    if the folder of the interpreters is not a folder.
    """
    _link_interpreters(place / _PYTHONS, Path(env.get("UV_PYTHON_INSTALL_DIR") or home / ".local/share/uv/python"))
    return {name: str(place / folder) for name, folder in _FOLDERS.items()}


def _link_interpreters(place: Path, real: Path) -> None:
    """Links in `place` to the installations in `real`; a program may have put a link in the place of `place` itself."""
    with suppress(FileExistsError):
        place.mkdir(mode=0o700)
    there = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for found in _installations(real):
            with suppress(FileExistsError):
                os.symlink(os.path.realpath(found), found.name, dir_fd=there)
    finally:
        os.close(there)


def _installations(real: Path) -> list[Path]:
    with suppress(OSError):
        return [path for path in real.iterdir() if path.is_dir() and not path.name.startswith(".")]
    return []
