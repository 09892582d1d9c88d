"""Settings of a person's tools reach commands in the sandbox, wherever they are kept, and logins in them do not."""

import subprocess
import sys
from pathlib import Path

import pytest

from kotef.checks.runners.go_rows import go_environment
from kotef.checks.runners.row import RunnerCommand
from kotef.sandbox.toolchains import SETTINGS, settle, variables
from kotef.shell import unwrap


def settled(tmp_path: Path, env: dict[str, str]) -> Path:
    """The home of commands whose room is made for the home `tmp_path/home`."""
    home, place, cache, seed = (tmp_path / name for name in ("home", "place", "cache", "seed"))
    for folder in (home, place, cache, seed):
        folder.mkdir(exist_ok=True)
    settle(place, home, cache, seed, env, network=False)
    return place


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_copied_unless_they_hold_a_login(tmp_path: Path, name: str) -> None:
    path = tmp_path / "home" / name
    path.parent.mkdir(parents=True)
    path.write_text("retries = 3\n")
    copy = settled(tmp_path, {}) / name
    assert copy.read_text() == "retries = 3\n"

    copy.unlink()
    path.write_text("retries = 3\nauth_token = abc\n")
    settled(tmp_path, {})
    assert not copy.exists() or copy.read_text() == "retries = 3\n"


def test_settings_are_found_where_a_variable_says(tmp_path: Path) -> None:
    (tmp_path / "moved/go").mkdir(parents=True)
    (tmp_path / "moved/go/env").write_text("GOPRIVATE=example.com\n")
    assert (settled(tmp_path, {"XDG_CONFIG_HOME": str(tmp_path / "moved")}) / ".config/go/env").exists()


@pytest.mark.parametrize(
    ("variables", "settings", "expected"),
    [
        ({}, None, ""),
        ({}, "GOFLAGS=-mod=mod\n", "-mod=mod "),
        ({}, "GOPROXY=off\nGOFLAGS=-v\nGOFLAGS=-buildvcs=false -mod=mod\n", "-buildvcs=false -mod=mod "),
        ({"GOFLAGS": ""}, "GOFLAGS=-mod=mod\n", ""),
        ({"GOFLAGS": "-race"}, "GOFLAGS=-mod=mod\n", "-race "),
    ],
)
@pytest.mark.parametrize("by", ["HOME", "XDG_CONFIG_HOME", "GOENV"])
def test_flags_of_go_are_kept_beside_ours(
    tmp_path: Path, variables: dict[str, str], settings: str | None, expected: str, by: str
) -> None:
    place = {"HOME": ".config/go/env", "XDG_CONFIG_HOME": "go/env", "GOENV": ""}[by]
    path = tmp_path / "own" / place
    if settings is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(settings)
    folder = tmp_path / "reports"
    folder.mkdir()

    flags = go_environment(
        RunnerCommand("go test", unwrap("go test"), tmp_path, folder), {by: str(tmp_path / "own"), **variables}
    )

    assert flags["GOFLAGS"] == f"{expected}-exec={folder}/goexec.sh"


@pytest.mark.parametrize("place", ["home/go", "elsewhere"])
def test_downloaded_modules_of_go_keep_their_path_unless_new_ones_may_be_written(tmp_path: Path, place: str) -> None:
    modules = tmp_path / place / "pkg/mod"
    modules.mkdir(parents=True)
    env = {} if place == "home/go" else {"GOPATH": str(tmp_path / place)}
    home, room, cache, seed = (tmp_path / name for name in ("home", "place", "cache", "seed"))
    settled(tmp_path, env)
    assert variables(cache, home, room, seed, env)["GOMODCACHE"] == str(modules)

    with_network = tmp_path / "with network"
    settle(with_network, home, cache, seed, env, network=True)
    assert "GOMODCACHE" not in variables(cache, home, with_network, seed, env)


def test_a_python_that_starts_is_looked_for_once_for_all_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts, python, binary = (tmp_path / name for name in ("starts", "python3", "one.test"))
    python.write_text(f'#!/bin/sh\necho "$3" >>{starts}\nexec {sys.executable} "$@"\n')
    binary.write_text("#!/bin/sh\nprintf '\\026=== RUN   TestA\\n\\026--- PASS: TestA (0.00s)\\nPASS\\n'\n")
    for program in (python, binary):
        program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(python))
    folder = tmp_path / "reports"
    folder.mkdir()
    go_environment(RunnerCommand("go test", unwrap("go test"), tmp_path, folder), {"HOME": str(tmp_path)})
    for _ in range(3):
        assert subprocess.run([folder / "goexec.sh", binary], capture_output=True, check=True).stdout == b"PASS\n"
    assert starts.read_text().split() == ["-c", *[str(folder / "goexec" / "goexec.py")] * 3]
    assert len(list(folder.glob("go-*.json"))) == 3
