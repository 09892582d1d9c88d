"""Packages that cargo has downloaded lie below one path inside and outside of the sandbox, so they are compiled once."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from kotef.sandbox.toolchains import settle, toolchains, variables

LOGIN = '[registry]\ntoken = "abc"\n'
MIRROR = '[source.crates-io]\nreplace-with = "near"\n'


def told(tmp_path: Path, env: Mapping[str, str], *, network: bool = False) -> dict[str, str]:
    """The variables of commands whose room is made for the home `tmp_path/home`."""
    home, place, cache, seed = (tmp_path / name for name in ("home", "place", "cache", "seed"))
    for folder in (place, cache, seed):
        folder.mkdir()
    settle(place, home, cache, seed, env, network=network)
    return variables(cache, home, place, seed, env)


@pytest.fixture(params=[".cargo", "elsewhere"])
def cargo(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A person's folder of cargo with downloads, at its usual place or where CARGO_HOME says."""
    folder = tmp_path / "home" / request.param
    (folder / "registry").mkdir(parents=True)
    return folder


@pytest.fixture
def env(cargo: Path) -> dict[str, str]:
    return {} if cargo.name == ".cargo" else {"CARGO_HOME": str(cargo)}


def test_downloads_keep_their_path(tmp_path: Path, cargo: Path, env: dict[str, str]) -> None:
    assert told(tmp_path, env)["CARGO_HOME"] == str(cargo)


def test_settings_without_a_login_may_be_read_at_their_path(tmp_path: Path, cargo: Path, env: dict[str, str]) -> None:
    (cargo / "config.toml").write_text(MIRROR)
    assert told(tmp_path, env)["CARGO_HOME"] == str(cargo)
    assert cargo / "config.toml" in toolchains(env, tmp_path / "home", tmp_path / "work")


def test_settings_with_a_login_are_not_named(tmp_path: Path, cargo: Path, env: dict[str, str]) -> None:
    (cargo / "config.toml").write_text(MIRROR + LOGIN)
    assert told(tmp_path, env).get("CARGO_HOME", "") != str(cargo)
    if cargo.name == ".cargo":
        assert cargo / "config.toml" not in toolchains(env, tmp_path / "home", tmp_path / "work")


def test_with_the_network_downloads_go_where_they_may_be_written(
    tmp_path: Path, cargo: Path, env: dict[str, str]
) -> None:
    assert told(tmp_path, env, network=True).get("CARGO_HOME", "") != str(cargo)


def test_without_downloads_nothing_is_named(tmp_path: Path) -> None:
    assert "CARGO_HOME" not in told(tmp_path, {})
