"""Packages of JavaScript from the registry, installed once into a cache."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

CACHE = Path(os.environ.get("KOTEF_TEST_CACHE") or Path.home() / ".cache/kotef-tests", "javascript")
ENV = {**os.environ}


def installed(*packages: str) -> Path:
    """`node_modules` with these packages, from the cache or the registry."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    place = CACHE / "+".join(packages).replace("/", "_")
    if not (place / "done").exists():
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text('{"private": true}')
        line = ["npm", "install", "--no-audit", "--no-fund", "--silent", *packages]
        done = subprocess.run(
            line, cwd=place, env={**ENV, "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"}, capture_output=True, check=False
        )
        if done.returncode:
            pytest.skip(f"{' '.join(packages)} cannot be installed: {done.stderr.decode()[-200:]}")
        (place / "done").touch()
    return place / "node_modules"
