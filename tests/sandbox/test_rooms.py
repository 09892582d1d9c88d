"""A check that judges sees nothing that a command left in its home, temporary folder or caches."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.confined import shell
from support.example_count import example_count

from kotef.sandbox import seed as seeds
from kotef.sandbox.confinement import confine
from kotef.sandbox.private_home import take_room
from kotef.sandbox.rooms import Rooms, filling_room, fresh_room
from kotef.sandbox.sandbox import OFF, Level, Sandbox
from kotef.sandbox.seed import copy_caches, keep_caches
from kotef.workspace import find_environments

Make = Callable[..., Sandbox]

each_level = pytest.mark.parametrize("level", ["bwrap", "landlock"])

PLACES = (
    "$HOME",
    "$TMPDIR",
    "/tmp",
    "$XDG_CACHE_HOME",
    "$GOCACHE",
    "$PIP_CACHE_DIR",
    "$npm_config_cache",
    "$HOME/.cache",
)
PLANTED = (
    *(".npmrc", ".gitconfig", ".config/git/config", ".cargo/config.toml", ".m2/settings.xml", ".config/go/env"),
    *(".local/lib/python3.11/site-packages/usercustomize.py", ".local/lib/python3.11/site-packages/x.pth"),
    *(".bashrc", "sitecustomize.py", "pytest.ini", "deep/er/file", ".gemrc", "-n"),
)


@each_level
def test_planted_files_are_not_in_the_room_of_a_check(level: Level, make: Make, project: Path) -> None:
    rooms = Rooms(make(level))
    word = secrets.token_hex(8)  # not in this file: the interpreter beside it may lie in a temporary folder
    planted = [f'"{place}/{name}"' for place in PLACES for name in PLANTED]
    plant = "; ".join(f'mkdir -p -- "$(dirname -- {path})"; echo {word} > {path}' for path in planted)
    look = f'grep -rlas {word} -- ~ "$TMPDIR" /tmp "$XDG_CACHE_HOME" "$GOCACHE" "$PIP_CACHE_DIR"; echo looked'
    try:
        assert word not in shell(plant, rooms.coder(), project).stdout
        assert len(shell(look, rooms.coder(), project).stdout.splitlines()) > len(PLANTED), "the files were planted"
        with rooms.judge() as judge:
            assert shell(look, judge, project).stdout == "looked\n"
            shell(plant, judge, project)
        with rooms.judge() as later:
            assert shell(look, later, project).stdout == "looked\n", "nor files that an earlier check planted"
    finally:
        rooms.close()


@each_level
def test_caches_of_the_baseline_are_copied_to_later_checks_and_do_not_change(
    level: Level, make: Make, project: Path
) -> None:
    rooms = Rooms(make(level))
    with rooms.first():
        for word in ("one", "two"):
            with rooms.judge() as first:
                shell(f"mkdir -p $GOCACHE; echo {word} > $GOCACHE/{word}; ls $GOCACHE", first, project)
    spoil = "echo PLANTED > $GOCACHE/one; echo PLANTED > $GOCACHE/new"
    with rooms.judge() as second:
        assert shell(f"ls $GOCACHE; {spoil}", second, project).stdout == "one\ntwo\n"
        assert second.confinement
        there = second.confinement.seed / "go-build"
        refused = shell(f"echo PLANTED > {there}/one; echo PLANTED > {there}/new; rm -rf {there}", second, project)
        assert refused.exit_code
    shell(spoil, rooms.coder(), project)
    rooms.close()
    with rooms.judge() as third:
        assert shell("cat $GOCACHE/*", third, project).stdout == "one\ntwo\n"


def test_a_baseline_that_is_reused_fills_nothing(make: Make) -> None:
    sandbox = make("bwrap")
    assert sandbox.confinement
    before = list(sandbox.confinement.room.parent.iterdir())

    with Rooms(sandbox).first():
        pass

    assert list(sandbox.confinement.room.parent.iterdir()) == before


def test_a_room_is_removed_when_it_is_left(make: Make) -> None:
    with fresh_room(make("bwrap")) as fresh:
        assert fresh.confinement
        room = fresh.confinement.room
        (room / "home" / "closed").mkdir(mode=0)

    assert not room.exists()


def test_without_a_sandbox_there_is_one_room_for_all() -> None:
    rooms = Rooms(OFF)
    with rooms.first(), rooms.judge() as first, fresh_room(OFF) as fresh, filling_room(OFF) as filling:
        assert {rooms.coder().level, first.level, fresh.level, filling.level} == {"off"}


NAMES = st.sampled_from(["go-build", "m2", "npm", "pip", "go-pkg"])
FILES = st.dictionaries(NAMES, st.dictionaries(st.sampled_from(["a", "b", "d/c"]), st.binary(max_size=9), max_size=3))


@example_count(30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=FILES, second=FILES, links=st.sets(NAMES))
def test_links_in_caches_are_never_followed(
    first: dict[str, dict[str, bytes]], second: dict[str, dict[str, bytes]], links: set[str], tmp_path: Path
) -> None:
    """Links that the code of a clone leaves in its caches: nothing is read or written through them."""
    place = Path(os.path.realpath(take_room(tmp_path)))
    outside, seed = place / "outside", place / "seed"
    for folder in (outside / "d", seed):
        folder.mkdir(parents=True)
    (outside / "a").write_bytes(b"CANARY")
    for turn, files in enumerate((first, second)):
        cache = place / f"cache-{turn}"
        cache.mkdir()
        for name, contents in files.items():
            for path, content in contents.items():
                (cache / name / path).parent.mkdir(parents=True, exist_ok=True)
                (cache / name / path).write_bytes(content)
        for name in links - files.keys():
            (cache / name).symlink_to(outside)
        for name in links & files.keys():
            if not (cache / name / "d").exists():
                (cache / name).mkdir(exist_ok=True)
                (cache / name / "d").symlink_to(outside / "d")
        keep_caches(cache, seed)
    copy_caches(seed, place / "cache", writable=True)

    assert [path.name for path in outside.rglob("*")] in (["d", "a"], ["a", "d"])
    assert (outside / "a").read_bytes() == b"CANARY"
    assert not any(path.is_symlink() for path in seed.iterdir())


def test_a_cache_above_the_limit_is_read_in_the_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeds, "MOST_BYTES", 10)
    for name, size in (("npm", 4), ("pip", 20), ("go-build", 30)):
        (tmp_path / "seed" / name).mkdir(parents=True)
        (tmp_path / "seed" / name / "file").write_bytes(b"x" * size)
    (tmp_path / "cache").mkdir()

    copy_caches(tmp_path / "seed", tmp_path / "cache", writable=False)

    assert not (tmp_path / "cache" / "npm").is_symlink()
    assert (tmp_path / "cache" / "pip").is_symlink()
    assert not (tmp_path / "cache" / "go-build").exists(), "Go fails if it cannot write its cache"


def test_caches_that_commands_could_write_in_earlier_versions_are_removed(project: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "state" / "kotef" / "abc" / "sandbox"
    (scratch / "cache" / "go-build").mkdir(parents=True)

    confine(project, scratch, dict(os.environ))

    assert not (scratch / "cache").exists()


def test_an_environment_stays_read_only_when_a_parent_folder_is_renamed(make: Make, project: Path) -> None:
    for path in ("packages/a/node_modules/x/index.js", "packages/a/own.js"):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("honest\n")
    sandbox = make("bwrap")
    assert sandbox.confinement
    sandbox.confinement.environments.close_off(find_environments(project, ()))
    spoil = (
        "find . -name index.js -exec sh -c 'echo no > {}' ';'; find . -path '*node_modules/x' -exec rm -rf {} +; true"
    )
    for command in (spoil, "mv packages p", spoil, "mkdir packages; mv p/a packages/a", spoil, "rm -rf packages"):
        shell(command, sandbox, project)

    assert (project / "packages" / "a" / "node_modules" / "x" / "index.js").read_text() == "honest\n"
    assert not (project / "packages" / "a" / "own.js").exists(), "other files may be changed"


def test_tools_get_a_private_folder_in_place_of_their_caches(make: Make, project: Path) -> None:
    (project / "node_modules" / "vite").mkdir(parents=True)
    rooms = Rooms(make("bwrap"))
    confinement = rooms.judging.confinement
    assert confinement
    confinement.environments.close_off(find_environments(project, ()))
    write = "ls -A node_modules/.vite node_modules/.vite-temp; echo PLANTED | tee node_modules/.vite/x node_modules/.cache/x"
    with rooms.judge() as first:
        assert shell(write, first, project).exit_code == 0
    with rooms.judge() as second:
        assert shell("cat node_modules/.vite/x node_modules/.cache/x", second, project).stdout == ""
    rooms.close()
    confinement.environments.open_again()

    assert [path.name for path in (project / "node_modules").iterdir()] == ["vite"], "the cache folders are removed"


def test_the_next_checks_room_is_filled_while_the_coder_works(make: Make, project: Path) -> None:
    rooms = Rooms(make("bwrap"))
    with rooms.first(), rooms.judge() as first:
        shell("mkdir -p $GOCACHE; echo one > $GOCACHE/one", first, project)
    for _ in range(2):
        shell("echo PLANTED > $GOCACHE/one; echo PLANTED > ~/new", rooms.coder(), project)
        with rooms.judge() as judge:
            assert shell("cat $GOCACHE/one; ls ~", judge, project).stdout == "one\n"
    rooms.coder()
    rooms.close()

    confinement = rooms.judging.confinement
    assert confinement
    assert [path.name for path in confinement.room.parent.glob("room-*")] == [confinement.room.name]
