"""Tiny projects, and what the tests of the search do with them."""

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kotef.repair.search import SearchResult, repair


def project(root: Path, files: Mapping[str, str | bytes]) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def search(root: Path, *, seconds: float = 30, **options: Any) -> SearchResult:
    asked: dict[str, Any] = {
        "command": "python -m pytest -q",
        "failing": [],
        "python": sys.executable,
        "env": dict(os.environ),
        "jobs": 2,
        "stop_after": 1,
    }
    return asyncio.run(repair(root, seconds=seconds, **{**asked, **options}))


def everything(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def left_by(root: Path) -> list[str]:
    """Processes at work in the project or in a scratch of its search that are ours; what other tests left is not."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "stat").read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                place = (entry / "cmdline").read_bytes().decode("utf-8", "replace") + str((entry / "cwd").readlink())
                found += [place] if str(root) in place or "kotef-repair-" in place else []
        except OSError:
            continue
    return found
