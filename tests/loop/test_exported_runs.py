"""An exported run, resumed elsewhere, ends like one that was not moved; a damaged file is refused."""

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import zipfile
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.example_count import example_count
from support.isolation import isolate
from support.loop import CHECK, Ran, forgetful_agent, git, kotef, one_bug
from support.openai_server import OpenAIServer
from support.process import Done, kotef_process

from kotef.errors import UsageError
from kotef.runs import store
from kotef.runs.exports import received
from kotef.runs.exports.archive import MANIFEST, Manifest, Packed, fingerprint_of

GOAL = ("run", "make add add", "--coder", "model", "--check", CHECK, "--max-attempts", "2")
STABLE = ("outcome", "reason", "goal", "maxAttempts", "visits", "changed", "fixed", "done", "coder", "exitCode")


class Machine:
    """A home of its own with a clone in it."""

    def __init__(self, place: Path, origin: Path, server: OpenAIServer) -> None:
        place.mkdir()
        self.home, self.root = place, place / "deep" / "clone"
        self.root.parent.mkdir()
        git(place, "clone", "-q", str(origin), str(self.root))
        self.env = {
            "HOME": str(place),
            "XDG_STATE_HOME": str(place / "state"),
            "OPENAI_BASE_URL": server.base_url,
            "KOTEF_MODEL": "scripted",
        }

    def kotef(self, *words: str, kill_at: str = "") -> Done:
        return kotef_process([*words, "--root", str(self.root)], self.env, self.home, kill_at=kill_at)

    def result(self) -> dict:
        (file,) = self.root.glob(".sdd/runs/*/result.json")
        return json.loads(file.read_text())


def facts(result: dict) -> dict:
    return {name: result[name] for name in STABLE} | {"attempts": result["failureHistory"]["attempts"]}


MOMENTS = ("verified:1", "tool_finished:1")
OTHER_MOMENTS = ("coder_started:1", "coder_finished:1", "planned:2", "verified:2", "check_started:2", "run_started")


@pytest.mark.examples(1)
@pytest.mark.parametrize("fixes_at", [2, 9])
@pytest.mark.parametrize("moment", [*MOMENTS, *(pytest.param(name, marks=pytest.mark.kill) for name in OTHER_MOMENTS)])
def test_a_run_resumed_elsewhere_ends_like_one_that_was_not_moved(
    project: Path, tmp_path: Path, moment: str, fixes_at: int
) -> None:
    with OpenAIServer(forgetful_agent(fixes_at)) as server:
        alone = Machine(tmp_path / "alone", project, server)
        alone.kotef(*GOAL)
        here = Machine(tmp_path / "here", project, server)
        (here.root / "draft.txt").write_text("not committed\n")
        (here.root / "calc.py").chmod(0o755)
        assert here.kotef(*GOAL, kill_at=moment).returncode == -signal.SIGKILL
        packed = here.kotef("runs", "export", "--last", str(tmp_path / "r.kotef"))
        assert packed.returncode == 0, packed.stderr
        shutil.rmtree(here.home)

        there = Machine(tmp_path / "there", project, server)
        resumed = there.kotef("resume", "--from", str(tmp_path / "r.kotef"))

    assert facts(there.result()) == facts(alone.result()), resumed.stderr
    assert resumed.returncode == there.result()["exitCode"]
    assert (there.root / "draft.txt").read_text() == "not committed\n"
    entries = Ran(0, "", "", there.root).issues
    assert len([entry for entry in entries if entry["state"] == "open"]) == (fixes_at > 2)
    assert f"its checks: {CHECK}" in resumed.stderr
    assert "files set to the run's version:" in resumed.stdout


def export(root: Path, file: Path) -> Path:
    """The file of a run in `root` that can be resumed."""
    with OpenAIServer(forgetful_agent(9)) as server:
        kotef(root, *GOAL, "--model", "scripted", "--base-url", server.base_url)
    done = kotef(root, "runs", "export", "--last", str(file))
    assert done.code == 0, done.stderr
    return file


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace of a run, with its file beside it, in a home that no test has."""
    with pytest.MonkeyPatch.context() as patches:
        isolate(tmp_path_factory.mktemp("home"), patches)
        root = one_bug(tmp_path_factory.mktemp("origin") / "project")
        export(root, root.with_name("run.kotef"))
    return root


@pytest.fixture
def packed(origin: Path, tmp_path: Path) -> Path:
    """The file of a run that can be resumed; nothing is known here of the workspace it came from."""
    return Path(shutil.copy2(origin.with_name("run.kotef"), tmp_path))


@pytest.fixture
def clone(origin: Path, tmp_path: Path) -> Path:
    git(tmp_path, "clone", "-q", str(origin), str(tmp_path / "clone"))
    return tmp_path / "clone"


def everything(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }


def refused(root: Path, file: Path, *words: str) -> str:
    before = everything(root)
    done = kotef(root, "resume", "--from", str(file), "--max-attempts", "3", *words)
    assert done.code == 2, done.stdout + done.stderr
    assert sum(not line.startswith("kotef: note: ") for line in done.stderr.splitlines()) == 1, done.stderr
    assert everything(root) == before
    assert not list(store.runs_dir(root).glob("*")), "nothing of the run is left"
    return done.stderr


@example_count(15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_file_with_a_changed_or_missing_byte_is_refused(packed: Path, clone: Path, data: st.DataObject) -> None:
    whole = packed.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    cut = data.draw(st.booleans())
    changed = whole[:place] if cut else whole[:place] + bytes([whole[place] ^ 0x20]) + whole[place + 1 :]
    other = packed.with_name("other.kotef")
    other.write_bytes(changed)

    got = None
    with suppress(UsageError), received(clone, other) as found:
        got = {name: (found.run.path / name.removeprefix("run/")).read_bytes() for name in found.manifest.files}

    with zipfile.ZipFile(packed) as archive:
        real = {name: archive.read(name) for name in archive.namelist() if name != MANIFEST}
    assert got in (None, real), "a byte of the zip container without meaning, such as a date, may differ"


def rewritten(file: Path, change: dict[str, bytes], **facts: object) -> Path:
    """The same archive with other files in it, as made by an attacker who knows the format."""
    with zipfile.ZipFile(file) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name != MANIFEST}
        manifest = Manifest.model_validate_json(archive.read(MANIFEST)).model_copy(update=facts)
    other = file.with_name("other.kotef")
    text = manifest.model_dump_json(indent=1).encode()
    with zipfile.ZipFile(other, "w") as archive:
        archive.comment = fingerprint_of(text).encode()
        archive.writestr(MANIFEST, text)
        for name, content in (files | change).items():
            archive.writestr(name, content)
    return other


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        ({"run/task.json": b"{}"}, {}),
        ({"run/more.json": b"{}"}, {}),
        ({"../../escape": b"x"}, {}),
        ({"run/../../escape": b"x"}, {}),
        ({"snapshots.bundle": b"# v2 git bundle\n\nPACK"}, {}),
        ({}, {"run_id": "../../x"}),
        ({}, {"format": 99}),
        ({}, {"stands": "0" * 40}),
        ({}, {"files": {}}),
    ],
)
def test_an_altered_file_is_refused_in_one_line_and_changes_nothing(
    packed: Path, clone: Path, change: dict[str, bytes], facts: dict[str, object]
) -> None:
    refused(clone, rewritten(packed, change, **facts))
    assert not list(clone.parent.rglob("escape"))


def test_a_file_with_another_fingerprint_is_refused(packed: Path, clone: Path) -> None:
    assert "its fingerprint is sha256:" in refused(clone, packed, "--fingerprint", "sha256:" + "0" * 64)


@pytest.mark.parametrize("content", [b"", b"PK", b"hello\n"])
def test_a_file_that_is_not_an_archive_is_refused(clone: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    assert str(tmp_path / "x") in refused(clone, tmp_path / "x")
    assert "no such file" in refused(clone, tmp_path / "nothing")


def test_uncommitted_work_is_not_replaced_by_an_imported_run(packed: Path, clone: Path) -> None:
    (clone / "calc.py").write_text("mine\n")
    assert "uncommitted work" in refused(clone, packed)
    assert (clone / "calc.py").read_text() == "mine\n"


def test_a_run_of_this_workspace_cannot_be_imported_again(project: Path, tmp_path: Path) -> None:
    done = kotef(project, "resume", "--from", str(export(project, tmp_path / "run.kotef")))
    assert (done.code, "is already in this workspace" in done.stderr) == (2, True)


@pytest.mark.parametrize("words", [(), ("--last",), ("--last", "a", "b"), ("a",), ("a", "b", "c")])
def test_a_wrong_number_of_arguments_is_a_usage_error(project: Path, words: tuple[str, ...]) -> None:
    done = kotef(project, "runs", "export", *words)
    assert (done.code, "runs export takes" in done.stderr) == (2, True)


def tree_of(place: Path, *entries: tuple[str, str, str]) -> tuple[str, bytes]:
    """A git tree with these entries (mode, name, and content or id), and a bundle that contains it."""
    git(place, "init", "-q", "--bare", "bare")
    bare = place / "bare"
    lines = []
    for mode, name, content in entries:
        (place / "content").write_text(content)
        oid = content if mode == "160000" else git(bare, "hash-object", "-w", str(place / "content")).strip()
        git(bare, "update-index", "--add", "--cacheinfo", f"{mode},{oid},{name}")
        lines.append(name)
    tree = git(bare, "write-tree", "--missing-ok").strip()
    git(bare, "update-ref", "refs/kotef/bundled", git(bare, "commit-tree", "-m", "run", tree).strip())
    git(bare, "bundle", "create", "-q", "made", "refs/kotef/bundled")
    return tree, (bare / "made").read_bytes()


@pytest.mark.parametrize(
    "entry",
    [
        ("160000", "inside", "1" * 40),
        ("120000", ".sdd", "/"),
        ("120000", ".sdd/runs", "/"),
        ("120000", ".sdd/issues.md", "../../elsewhere"),
        ("100644", "mine.log", "theirs\n"),
        ("100644", "mine.log/below", "theirs\n"),
    ],
)
def test_a_tree_with_forbidden_entries_changes_nothing(
    packed: Path, clone: Path, tmp_path: Path, entry: tuple[str, str, str]
) -> None:
    (clone / ".git" / "info" / "exclude").write_text("mine.log\n")
    (clone / "mine.log").write_text("mine\n")
    (clone / "calc.py").chmod(0o600)
    tree, bundle = tree_of(tmp_path, ("100644", "a.py", "new = 1\n"), ("100644", "calc.py", "new = 1\n"), entry)

    refused(clone, rewritten(packed, {"snapshots.bundle": bundle}, stands=tree))

    assert (clone / "calc.py").stat().st_mode & 0o777 == 0o600
    assert git(clone, "status", "--porcelain") == ""


@pytest.mark.examples(1)
@pytest.mark.parametrize("name", ["run/visit-3.base", "run/activity.jsonl", "run/seconds"])
def test_altered_records_in_a_file_are_neither_git_options_nor_crashes(
    packed: Path, clone: Path, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious\n")
    for content in (f"--output={outside}".encode(), b"\x80\xff", b"1e999"):
        place = tmp_path / f"clone-{len(content)}"
        git(tmp_path, "clone", "-q", str(clone), str(place))
        file = rewritten_whole(packed, {name: content})

        done = resumed(place, file)

        assert done.code in {3, 5}, done.stdout + done.stderr
        assert outside.read_text() == "precious\n"
        assert "Traceback" not in done.stderr


def resumed(root: Path, file: Path) -> Ran:
    with OpenAIServer(forgetful_agent(9)) as server:
        return kotef(root, "resume", "--from", str(file), "--max-attempts", "3", "--base-url", server.base_url)


def rewritten_whole(file: Path, change: dict[str, bytes]) -> Path:
    """The same archive with other files in it, and a manifest that matches them."""
    with zipfile.ZipFile(file) as archive:
        known = Manifest.model_validate_json(archive.read(MANIFEST)).files
    made = {
        name: Packed(sha256=hashlib.sha256(content).hexdigest(), bytes=len(content)) for name, content in change.items()
    }
    return rewritten(file, change, files=known | made)


def test_resuming_from_a_file_prints_what_the_run_may_do(packed: Path, clone: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        task = json.loads(archive.read("run/task.json"))
    widened = {
        "allow_install": True,
        "trust": True,
        "web": True,
        "allow_unverified": True,
        "base_url": "http://127.0.0.1:9/v1",
    }
    file = rewritten_whole(packed, {"run/task.json": json.dumps(task | widened).encode()})

    done = resumed(clone, file)

    for said in ("its installs:", "its trust:", "its web:", "its verdict:", "its endpoint: http://"):
        assert said in done.stderr


def test_the_start_commit_of_a_task_must_be_a_commit_id(packed: Path, clone: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        task = json.loads(archive.read("run/task.json"))
    changed = task | {"base": f"--index-output={tmp_path}/outside", "branch": "new"}
    said = refused(clone, rewritten_whole(packed, {"run/task.json": json.dumps(changed).encode()}))
    assert "should match pattern" in said, "it is the task that is refused, for its base"
    assert not (tmp_path / "outside").exists()


def test_a_pipe_or_a_device_is_refused_at_once(clone: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "it is not a regular file" in refused(clone, tmp_path / "pipe")
    assert "it is not a regular file" in refused(clone, Path("/dev/zero"))


def test_an_exported_run_is_readable_by_its_owner_only(packed: Path) -> None:
    assert packed.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON writes BEGIN SELECT randomblob(1); END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE more (x)",
    ],
)
def test_foreign_schemas_in_checkpoints_are_refused(packed: Path, clone: Path, tmp_path: Path, statement: str) -> None:
    with zipfile.ZipFile(packed) as archive:
        (tmp_path / "made.sqlite").write_bytes(archive.read("run/checkpoints.sqlite"))
    with closing(sqlite3.connect(tmp_path / "made.sqlite")) as opened:
        opened.execute(statement)
        opened.commit()
    file = rewritten_whole(packed, {"run/checkpoints.sqlite": (tmp_path / "made.sqlite").read_bytes()})
    assert "that kotef did not create" in refused(clone, file)
