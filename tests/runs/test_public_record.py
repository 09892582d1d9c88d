"""kotef writes and shows the records below `.sdd/runs` but never acts on them; deleting one does not affect its run."""

import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count
from support.run_dirs import RUN, made_run
from support.run_events import recorded

from kotef.cli.main import main
from kotef.errors import SpecError
from kotef.runs import store
from kotef.runs.public_record import RecordWriter, copy_record, foreign_records
from kotef.runs.store import RunDir

EVENT = recorded("run_finished")


def recorded(root: Path) -> RunDir:
    run = made_run(root)
    writer = RecordWriter(run.path, run.record)
    writer.create()
    writer.see(EVENT)
    return run


def foreign(root: Path) -> RunDir:
    """A run of which only the record exists."""
    run = recorded(root)
    shutil.rmtree(run.path)
    return run


def kotef(root: Path, *words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, [*words, "--root", str(root)])
    return done.exit_code, done.stdout, done.stderr


def test_the_record_holds_what_people_read_and_nothing_kotef_acts_on(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    for name in ("standing-in.json", "checkpoints.sqlite", "effects.jsonl", "seen.json", "approved.json", "aborted"):
        (run.path / name).write_text("{}")

    writer = RecordWriter(run.path, run.record)
    writer.create()
    writer.see(EVENT)

    names = {path.name for path in run.record.iterdir()}
    assert {"result.json", "events.jsonl", "task.json", "logs"} <= names
    assert not names & {"standing-in.json", "checkpoints.sqlite", "effects.jsonl", "seen.json", "approved.json"}
    assert run.events.read_bytes() == (run.record / "events.jsonl").read_bytes()


@given(st.lists(st.sampled_from(["event", "delete", "truncate", "link", "folder", "remove all"]), max_size=8))
@example_count(40)
def test_the_next_event_repairs_a_damaged_record(tmp_path_factory: pytest.TempPathFactory, deeds: list[str]) -> None:
    root = tmp_path_factory.mktemp("root")
    canary = root / "canary"
    canary.write_text("untouched")
    run = made_run(root)
    writer = RecordWriter(run.path, run.record)
    writer.create()
    shown = run.record / "events.jsonl"
    for deed in [*deeds, "event"]:
        match deed:
            case "event":
                with run.events.open("a") as file:
                    file.write('{"n": 99}\n')
                writer.see(EVENT)
            case "remove all":
                shutil.rmtree(run.record.parents[1], ignore_errors=True)
            case "truncate" if shown.is_file() and not shown.is_symlink():
                os.truncate(shown, 3)
            case _ if run.record.is_dir():
                shutil.rmtree(shown) if shown.is_dir() and not shown.is_symlink() else shown.unlink(missing_ok=True)
                if deed == "link":
                    shown.symlink_to(canary)
                if deed == "folder":
                    shown.mkdir()
            case _:
                pass

    assert canary.read_text() == "untouched"
    if not shown.is_dir():
        assert shown.read_bytes() == run.events.read_bytes()


def test_a_folder_in_place_of_the_events_file_does_not_fail_the_run(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    writer = RecordWriter(run.path, run.record)
    (run.record / "events.jsonl").mkdir(parents=True)

    writer.see(EVENT)

    assert run.result() is not None


@pytest.mark.parametrize("place", [".sdd", ".sdd/runs", f".sdd/runs/{RUN}"])
@pytest.mark.parametrize("command", ["runs", "show", "report", "stats", "diff", "replay"])
def test_a_run_that_is_a_link_is_named_and_not_read_through(tmp_path: Path, place: str, command: str) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    elsewhere.mkdir()
    foreign(elsewhere)
    link = root / place
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere / place)

    code, said, error = kotef(root, command)

    assert code == 2, said
    assert f"{place}: is a symbolic link" in error
    assert RUN not in said


def test_a_foreign_record_is_shown_with_a_note_and_not_acted_on(tmp_path: Path) -> None:
    run = foreign(tmp_path)

    listed = json.loads(kotef(tmp_path, "runs", "--json")[1])
    shown = kotef(tmp_path, "show", RUN)
    assert [(row["runId"], row["origin"], row["resume"]) for row in listed] == [(RUN, "record", None)]
    assert shown[0] == 0
    assert "unknown origin" in shown[1]
    for words in (("resume", RUN), ("undo", RUN), ("apply", RUN, "--attempt", "1"), ("runs", "export", RUN, "x.kotef")):
        code, _, error = kotef(tmp_path, *words)
        assert code == 2, words
        assert error.count("\n") == 1
        assert "a record of unknown origin" in error
    assert not run.path.exists()


def test_the_newest_run_is_an_own_run_if_there_is_one(tmp_path: Path) -> None:
    made_run(tmp_path)
    late = tmp_path / ".sdd" / "runs" / "99991231-235959-ffff"
    late.mkdir(parents=True)

    assert store.find(tmp_path, None).run_id == RUN


def test_a_copy_of_a_foreign_record_holds_only_regular_files_with_known_names(tmp_path: Path) -> None:
    record = tmp_path / ".sdd" / "runs" / "r1"
    (record / "logs").mkdir(parents=True)
    (record / "result.json").write_text("{}")
    (record / "standing-in.json").write_text("{}")
    (record / "task.json").symlink_to("/etc/passwd")
    os.mkfifo(record / "events.jsonl")
    os.mkfifo(record / "logs" / "x.log")
    (record / "record.jsonl").symlink_to("/dev/zero")

    copy = copy_record(tmp_path, "r1", whole=True)

    assert sorted(path.name for path in copy.rglob("*")) == ["logs", "result.json"]


def test_records_with_odd_names_are_not_runs(tmp_path: Path) -> None:
    runs = tmp_path / ".sdd" / "runs"
    runs.mkdir(parents=True)
    for name in ("good", ".hidden", "-x", "a\nb", "\x1b[31m", "x" * 65):
        (runs / name).mkdir()

    assert foreign_records(tmp_path, known=()) == ["good"]


def test_a_run_does_not_start_if_its_runs_folder_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "root" / ".sdd").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "root" / ".sdd" / "runs").symlink_to(tmp_path / "out")
    run = store.at(tmp_path / "root", "r1")

    with pytest.raises(SpecError, match=r"\.sdd/runs: is a symbolic link"):
        RecordWriter(run.path, run.record).create()
    assert list((tmp_path / "out").iterdir()) == []
