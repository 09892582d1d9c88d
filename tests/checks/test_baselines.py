"""A baseline is judged once for the same tree, checks and surroundings, and only a sound one is kept."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kotef.checks import baselines
from kotef.checks.baselines import Baselines
from kotef.checks.types import Check, CommandResult

CHECK = Check(name="pytest", command="pytest -q", role="test", origin="option")
RED = CommandResult(command="pytest -q", exit_code=1, passed=False, tests={"a.py::a": "failed"}, seconds=3, log="x.log")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (root / ".env").write_text("A=1")
    (root / ".coverage").write_text("1")
    return root


def opened(root: Path, **env: str) -> Baselines:
    return Baselines(root.parent / "baselines", root, {"PATH": os.environ["PATH"], **env})


def keep(
    root: Path, result: CommandResult = RED, *, tree: str = "t", before: Callable[[], None] = lambda: None
) -> None:
    store = opened(root)
    facts = store.facts([".env", ".coverage"])
    before()
    store.keep(tree, [(CHECK, result)], reruns=1, run_id="r1", wrote=("out.txt",), ignored=facts)


def find(root: Path, *, tree: str = "t", reruns: int = 1, **env: str) -> bool:
    return opened(root, **env).find(tree, [CHECK], reruns=reruns, ignored=[".env", ".coverage"]) is not None


def test_the_same_tree_checks_and_surroundings_are_judged_once(root: Path) -> None:
    keep(root)
    store = opened(root)
    kept = store.find("t", [CHECK], reruns=1, ignored=[".env", ".coverage"])
    assert kept is not None
    assert (kept.run_id, kept.wrote, kept.judged_at[:2]) == ("r1", ("out.txt",), "20")
    assert kept.results[0][1].tests == {"a.py::a": "failed"}
    assert kept.results[0][1].log is None, "that log belongs to another run"
    assert store.seconds == {"pytest": 3}


def test_another_tree_check_variable_or_number_of_reruns_is_judged_anew(root: Path) -> None:
    keep(root)
    assert find(root)
    assert not find(root, tree="other")
    assert not find(root, reruns=0)
    assert not find(root, LANG="de_DE")
    other = CHECK.model_copy(update={"command": "pytest -q tests"})
    assert opened(root).find("t", [other], reruns=1, ignored=[".env", ".coverage"]) is None


def test_an_installed_package_makes_it_stale(root: Path) -> None:
    keep(root)
    (root / ".venv" / "lib" / "python3.11" / "site-packages" / "new.py").write_text("")
    assert not find(root)


def test_another_version_of_kotef_judges_anew(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(root)
    monkeypatch.setattr(baselines, "__version__", "99")
    assert not find(root)


def test_an_ignored_file_that_a_check_may_read_makes_it_stale(root: Path) -> None:
    keep(root)
    (root / ".env").write_text("A=2, and more")
    assert not find(root)


def test_a_new_ignored_file_makes_it_stale(root: Path) -> None:
    keep(root)
    (root / ".env.local").write_text("A=2")
    assert opened(root).find("t", [CHECK], reruns=1, ignored=[".env", ".coverage", ".env.local"]) is None


def test_an_ignored_file_that_the_checks_rewrite_does_not(root: Path) -> None:
    keep(root, before=lambda: (root / ".coverage").write_text("22") and None)
    (root / ".coverage").write_text("333")
    assert find(root)


def test_chance_and_timeouts_are_not_kept(root: Path) -> None:
    for facts in ({"flaky": ("a.py::a",)}, {"timed_out": True}):
        keep(root, RED.model_copy(update=facts))
        assert not find(root), facts


def test_it_does_not_stand_for_ever(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(root)
    later = time.time() + baselines.MAX_AGE + 1
    monkeypatch.setattr(baselines.time, "time", lambda: later)
    assert not find(root)


def test_it_is_bounded_in_number_and_size(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baselines, "KEPT", 3)
    for number in range(5):
        keep(root, tree=f"t{number}")
    place = root.parent / "baselines"
    assert len(list(place.iterdir())) == 3
    assert find(root, tree="t4")
    monkeypatch.setattr(baselines, "LARGEST", 100)
    keep(root, tree="large")
    assert not find(root, tree="large")


def test_a_damaged_file_is_none_and_an_unwritable_place_costs_nothing(root: Path) -> None:
    keep(root)
    place = root.parent / "baselines"
    for file in place.iterdir():
        file.write_text("{")
    assert not find(root)
    opened(root).forget()
    assert not place.exists()
    place.write_text("a file where the directory should be")
    keep(root)
    assert not find(root)
