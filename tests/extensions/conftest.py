"""Fixture of the tests of extensions: a folder of packages that stands for kotef's own environment."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.extension_packages import ExtensionPackages


@pytest.fixture
def packages(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[ExtensionPackages]:
    """Where distributions can be added."""
    made = ExtensionPackages(tmp_path_factory.mktemp("environment") / "site-packages", monkeypatch)
    yield made
    made.forget()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty workspace."""
    place = tmp_path / "workspace"
    place.mkdir()
    return place
