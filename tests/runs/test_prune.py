"""Old runs go with all that only they need; what another run may ask for stays, and so does what can be resumed."""

import json
import os
import shutil
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner
from support.isolation import isolate
from support.loop import DONE, FIX, UNITTEST, Agent, edit, git, kotef
from support.openai_server import OpenAIServer

from kotef.cli.main import main
from kotef.runs import store
from kotef.tools.stash import Stash
from kotef.workspace import workspace_lock

BUG = "def add(a, b):\n    return a - b\n"
TEST = "import unittest\nfrom calc import add\n\nclass Add(unittest.TestCase):\n    def test_add(self):\n        "


def _project(root: Path) -> Path:
    root.mkdir(parents=True)
    (root / "calc.py").write_text(BUG)
    (root / "test_calc.py").write_text(f"{TEST}self.assertEqual(add(2, 3), 5)\n")
    (root / ".gitignore").write_text("__pycache__/\nlocal.txt\n")
    (root / "local.txt").write_text("ignored\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    return root


def ran(root: Path, *coder: object, monkeypatch: pytest.MonkeyPatch) -> Path:
    with OpenAIServer(Agent(coder=list(coder))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("KOTEF_MODEL", "scripted")
        return kotef(
            root, "run", "make add add", "--coder", "model", "--check", UNITTEST, "--max-attempts", "1"
        ).run_dir


def state() -> Path:
    (place,) = Path(os.environ["XDG_STATE_HOME"]).glob("kotef/*")
    return place


def objects() -> int:
    return sum(path.is_file() for path in (state() / "store.git" / "objects").rglob("*"))


def pruned(root: Path, *arguments: str) -> dict:
    return json.loads(_invoke(root, *arguments, "--json"))


def _invoke(root: Path, *arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, ["runs", "prune", "--root", str(root), *arguments])
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.stderr


class Made(NamedTuple):
    """Runs that several tests start from."""

    place: Path
    runs: tuple[str, ...]
    """Their ids, oldest first: two that begin in one second are not in this order by name."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A place with a project in `now/project` and its states in `now/state`, both of them also in `made`."""
    place = tmp_path_factory.mktemp("pruned")
    root = _project(place / "now" / "project")
    (home := place / "home").mkdir()
    with pytest.MonkeyPatch.context() as monkeypatch:
        isolate(home, monkeypatch)
        monkeypatch.setenv("XDG_STATE_HOME", str(place / "now" / "state"))
        first = ran(root, FIX, DONE, monkeypatch=monkeypatch)
        (root / "calc.py").write_text(f"{BUG}\n# again\n")
        second = ran(root, FIX, DONE, monkeypatch=monkeypatch)
        (root / "calc.py").write_text(f"{BUG}\n# once more\n")
        third = ran(root, edit("calc.py", "a - b", "a * b"), DONE, monkeypatch=monkeypatch)
    shutil.copytree(place / "now", place / "made", symlinks=True)
    return Made(place, (first.name, second.name, third.name))


@pytest.fixture
def project(made: Made, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project as its three runs left it. They are made once, because they are what takes time."""
    place = made.place
    shutil.rmtree(place / "now")
    shutil.copytree(place / "made", place / "now", symlinks=True)
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "now" / "state"))
    return place / "now" / "project"


@pytest.fixture
def three(made: Made, project: Path) -> list[Path]:
    """Two verified runs, then one that failed and can be resumed."""
    return [store.at(project, run).path for run in made.runs]


def test_old_runs_go_and_what_the_others_need_stays(project: Path, three: list[Path]) -> None:
    before = objects()
    told = pruned(project, "--keep", "0", "--dry-run")
    assert (told["runs"], told["resumable"]) == ([three[0].name, three[1].name], [three[2].name])
    assert all(path.exists() for path in three)
    assert objects() == before

    done = pruned(project, "--keep", "0")
    assert done == told | {"dryRun": False}
    assert done["bytes"] == done["runBytes"] + done["stashBytes"] + done["snapshotBytes"] + done["baselineBytes"]
    assert done["runBytes"] > 10_000
    assert done["snapshotBytes"] > 0
    assert [path.exists() for path in three] == [False, False, True]
    assert objects() < before
    assert "a * b" in kotef(project, "diff", three[2].name).stdout
    assert kotef(project, "undo", three[2].name).code == 0
    assert (project / "calc.py").read_text() == f"{BUG}\n# once more\n"
    assert pruned(project, "--keep", "0")["runs"] == []


def test_a_resumable_run_goes_only_when_asked_and_can_be_resumed_until_then(
    project: Path, three: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    pruned(project, "--keep", "0")
    with OpenAIServer(Agent(coder=[FIX, DONE])) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        done = kotef(project, "resume", "--last", "--max-attempts", "2")
    assert done.code == 0, done.stdout + done.stderr
    assert pruned(project, "--keep", "0", "--resumable")["runs"] == [three[2].name]
    assert json.loads(kotef(project, "runs", "--json").stdout) == []
    assert not list((state() / "kept").iterdir()), "copies of ignored files go with the runs that made them"


def test_the_newest_stay_and_so_do_those_that_are_young(project: Path, three: list[Path]) -> None:
    assert pruned(project, "--keep", "2", "--dry-run")["runs"] == [three[0].name]
    assert pruned(project, "--older-than", "7", "--dry-run")["runs"] == []
    for path in (*three[0].iterdir(), three[0]):
        os.utime(path, (time.time() - 8 * 86_400,) * 2)
    assert pruned(project, "--older-than", "7", "--dry-run")["runs"] == [three[0].name]
    assert pruned(project, "--dry-run")["runs"] == [], "twenty stay when nothing is said"


def test_outputs_and_baselines_over_a_week_old_go_also_from_runs_that_stay(project: Path, three: list[Path]) -> None:
    stash = Stash(three[2] / "stash")
    name = stash.keep("old")
    (baseline, *_) = (state() / "baselines").glob("*.json")
    for path in (stash.path / name, baseline):
        os.utime(path, (time.time() - 8 * 86_400,) * 2)
    done = pruned(project)
    assert (done["stashBytes"], done["runs"]) == (3, [])
    assert done["baselineBytes"] > 0
    assert not baseline.exists()
    assert stash.read(name) is None


def test_it_is_said_how_much_was_freed(project: Path, three: list[Path]) -> None:
    said = _invoke(project, "--keep", "0")
    assert said.startswith("freed ")
    assert "2 runs" in said
    assert "kept, because it can be resumed: 1 run" in said


def test_checkpoints_that_cannot_be_read_stop_it_before_anything_is_deleted(project: Path, three: list[Path]) -> None:
    (three[2] / "checkpoints.sqlite").write_bytes(b"broken" * 1000)
    before = objects()
    assert "the snapshots it needs are unknown" in _invoke(project, "--keep", "0", code=5)
    assert objects() == before
    assert all(path.exists() for path in three)


def test_nothing_is_pruned_while_a_run_is_at_work(project: Path, three: list[Path]) -> None:
    with workspace_lock(project, three[2].name):
        assert three[2].name in _invoke(project, "--keep", "0", code=2)
    assert all(path.exists() for path in three)
