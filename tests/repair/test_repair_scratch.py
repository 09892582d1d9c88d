"""A search that was killed leaves a directory behind, and the next one removes it; never one that is in use."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kotef.repair.scratch import reap, scratch

HOLD = """
import sys
from kotef.repair.scratch import scratch
with scratch() as place:
    (place / "copy-0").mkdir()
    (place / "copy-0" / "a.py").write_text("x")
    print(place, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_what_a_killed_search_left_is_removed_and_what_is_in_use_stays(temporary: Path) -> None:
    with scratch() as own:
        other = subprocess.Popen(
            [sys.executable, "-c", HOLD],
            env={**os.environ, "TMPDIR": str(temporary)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with other:
            assert other.stdout
            place = Path(other.stdout.readline().strip())
            reap(Path(tempfile.gettempdir()))
            assert (place / "copy-0" / "a.py").exists(), "its owner lives"
            other.send_signal(signal.SIGKILL)
            other.wait()
            assert place.exists(), "a kill leaves it behind"
            reap(Path(tempfile.gettempdir()))
        assert not place.exists()
        assert own.exists()
    assert not own.exists()


def test_a_number_that_another_process_has_now_is_not_the_owner(temporary: Path) -> None:
    with scratch() as own:
        pid, start, world, _ = own.name.removeprefix("kotef-repair-").split("-")
        earlier = temporary / f"kotef-repair-{pid}-{int(start) - 1}-{world}-abc"
        earlier.mkdir()
        reap(Path(tempfile.gettempdir()))
        assert not earlier.exists()
        assert own.exists()


@pytest.mark.parametrize("name", ["kotef-repair-abcd1234", "kotef-repair-1-2-3-x.y", "kotef-repairs", "mine-9-9-9-a"])
def test_what_names_no_owner_is_not_touched(temporary: Path, name: str) -> None:
    (temporary / name).mkdir()
    reap(Path(tempfile.gettempdir()))
    assert (temporary / name).is_dir()


def test_numbers_of_another_namespace_and_links_are_left_alone(temporary: Path) -> None:
    with scratch() as own:
        world = own.name.split("-")[4]
    elsewhere = temporary / f"kotef-repair-999999999-1-{int(world) + 1}-a"
    elsewhere.mkdir()
    kept = temporary / "kept"
    kept.mkdir()
    link = temporary / f"kotef-repair-999999999-1-{world}-b"
    link.symlink_to(kept, target_is_directory=True)
    reap(Path(tempfile.gettempdir()))
    assert elsewhere.is_dir()
    assert link.is_symlink()
    assert kept.is_dir()


def test_the_next_search_clears_up(temporary: Path) -> None:
    with scratch() as own:
        world = own.name.split("-")[4]
    left = temporary / f"kotef-repair-999999999-1-{world}-a"
    (left / "deep").mkdir(parents=True)
    with scratch():
        assert not left.exists()
