"""Specs of other tools are read as tickets: with file and line, ticked where they stand, and whatever is in them."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cpu_time import bounded_cpu
from support.foreign import PLAN_OF_KIRO, REQUIREMENTS, SPEC, TASKS, kiro, spec_kit

from kotef.errors import SpecError, UsageError
from kotef.importers.folders import Folder, foreign_folders, list_foreign, read_foreign, tick_foreign
from kotef.importers.kiro import read_kiro
from kotef.importers.spec import progress_text, ticket_from
from kotef.importers.spec_kit import read_spec_kit
from kotef.importers.tasks import read_tasks, tick_tasks
from kotef.sdd.markdown import read_markdown
from kotef.sdd.ticket import Ticket

MARKDOWN = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *(SPEC + TASKS + REQUIREMENTS + PLAN_OF_KIRO).splitlines(),
                *(
                    "- [ ]",
                    "- [~] 4. x",
                    "```",
                    "<!--",
                    "-->",
                    "  - _Requirements: 1.1_",
                    "#",
                    "- [ ] T1 depends on T1",
                ),
            ]
        ),
        st.text(max_size=30),
    ),
    max_size=30,
).map("\n".join)


def at(root: Path, line) -> str:
    return (root / line.path).read_text().splitlines()[line.line - 1]


def labels(ticket: Ticket) -> list[str]:
    return [line.label for line in ticket.done]


def test_a_feature_of_spec_kit_is_one_ticket(tmp_path: Path) -> None:
    folder = spec_kit(tmp_path)
    (folder / "contracts").mkdir()
    (folder / "contracts" / "sum.md").write_text("# Contract\n")

    (spec,) = list_foreign(tmp_path)
    ticket = ticket_from(spec)

    assert (ticket.kind, ticket.id, ticket.slug, ticket.path) == ("spec-kit", "001-sums", "sums", "specs/001-sums")
    assert ticket.title == "Sums that are right"
    assert labels(ticket) == ["T001", "T002", "T003", "T004", "US1.1", "US1.2", "FR-001", "FR-002", "SC-001"]
    assert [line.checked for line in ticket.done[:4]] == [True, False, False, False]
    assert [line.box for line in ticket.done] == [True] * 4 + [False] * 5
    assert ticket.done[1].text == "Mend the operator in calc.py", "the marks are no words of the task"
    assert ticket.done[2].text == "All tests pass and stay so", "what it depends on is no part of it"
    assert ticket.done[4].text.endswith("**Then** the sum is shown"), "a line that goes on is one line"
    assert "FR-002" in at(tmp_path, ticket.done[7])
    assert "T003" in at(tmp_path, ticket.done[2])
    assert ticket.tests == ("python -m unittest -q",)
    assert "A clerk adds two amounts." in ticket.objective
    assert "ACTION REQUIRED" not in ticket.objective, "comments of the template are not for the model"
    assert "specs/001-sums/contracts/sum.md" in ticket.sketch
    assert "Mend the operator in `calc.py`" in ticket.sketch
    assert "Very large amounts" in ticket.risks
    (unclear,) = ticket.problems
    assert unclear.text == "needs clarification: up or to even?"
    assert "FR-002" in SPEC.splitlines()[unclear.line - 1]
    assert progress_text(spec) == "spec-kit, 3 of 4 tasks open"


def test_a_spec_of_kiro_is_one_ticket(tmp_path: Path) -> None:
    kiro(tmp_path)

    (spec,) = list_foreign(tmp_path)
    ticket = ticket_from(spec)

    assert (ticket.kind, ticket.id, ticket.title) == ("kiro", "cart-total", "cart total")
    assert labels(ticket) == ["1", "2", "2.1", "2.2", "3", "1.1", "1.2", "2.1"]
    assert [line.level for line in ticket.done[:5]] == [0, 0, 1, 1, 0]
    assert [line.checked for line in ticket.done[:5]] == [True, False, False, False, False], "started is not done"
    assert ticket.done[7].text == "WHEN a voucher is given THE SYSTEM SHALL take it off"
    assert "IF the cart is empty" in at(tmp_path, ticket.done[6])
    assert ticket.objective == "The cart shows a total."
    assert "One function, `add`" in ticket.sketch
    assert ticket.risks == "Wrong input raises."
    assert ticket.tests == ()


def test_one_task_is_a_ticket_with_what_it_is_for(tmp_path: Path) -> None:
    spec_kit(tmp_path)
    kiro(tmp_path)
    theirs, kiros = list_foreign(tmp_path)

    one = ticket_from(theirs, "t3")
    assert (one.id, labels(one)) == ("001-sums#T003", ["T003", "US1.1", "US1.2"])
    assert one.dependencies == ("001-sums#T002",), "what it depends on is open"
    assert "adding works" in one.objective
    assert one.title == "Sums that are right: All tests pass and stay so"
    assert ticket_from(theirs, "T004").dependencies == ("001-sums#T099",), "T001 is ticked, T099 is nowhere"
    story = ticket_from(theirs, "US1")
    assert labels(story) == ["T002", "T003", "US1.1", "US1.2"]
    assert (story.title, story.dependencies) == ("Sums that are right: Add two numbers (Priority: P1)", ())

    below = ticket_from(kiros, "2")
    assert labels(below) == ["2", "2.1", "2.2", "1.1", "1.2", "2.1"], "with the tasks below it, and its requirements"
    assert labels(ticket_from(kiros, "2.2")) == ["2.2", "1.2"]
    assert ticket_from(kiros, "2.1").steps == ("Mend `add` in `calc.py`",)


@pytest.mark.parametrize(
    ("selected", "said"),
    [("T001", "task T001 is ticked"), ("T005", "no task 'T005' (open: T002, T003, T004)"), ("\x1b[2J", "no task '?")],
)
def test_a_task_that_is_done_or_not_there_is_a_usage_error(tmp_path: Path, selected: str, said: str) -> None:
    spec_kit(tmp_path)
    with pytest.raises(UsageError) as error:
        ticket_from(list_foreign(tmp_path)[0], selected)
    assert said in str(error.value)


def test_a_spec_whose_tasks_are_all_ticked_is_not_open(tmp_path: Path) -> None:
    spec_kit(tmp_path, tasks=TASKS.replace("- [ ]", "- [X]"))
    (spec,) = list_foreign(tmp_path)
    assert not spec.is_open
    with pytest.raises(UsageError, match="all its tasks are ticked"):
        ticket_from(spec)


def test_an_optional_task_keeps_no_spec_open(tmp_path: Path) -> None:
    kiro(tmp_path, tasks="- [x] 1. a\n- [ ]* 1.1 maybe a test\n")
    (spec,) = list_foreign(tmp_path)
    assert not spec.is_open
    assert spec.tasks[1].optional


def test_only_folders_with_a_file_of_the_tool_are_specs(tmp_path: Path) -> None:
    spec_kit(tmp_path, "_draft-001")
    (tmp_path / "specs" / "models").mkdir()
    (tmp_path / "specs" / "models" / "user_spec.rb").write_text("describe\n")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    spec_kit(outside)
    (tmp_path / "specs" / "away").symlink_to(outside / "specs" / "001-sums")
    (tmp_path / ".specify" / "specs" / "002-b").mkdir(parents=True)
    (tmp_path / ".specify" / "specs" / "002-b" / "spec.md").write_text("# Feature: B\n\nSay B.\n")

    assert [folder.path for folder in foreign_folders(tmp_path)] == ["specs/away", ".specify/specs/002-b"]
    away = read_foreign(tmp_path, Folder("spec-kit", "specs/away"))
    assert away.tasks == ()
    assert all("leads out of the workspace" in problem.text for problem in away.problems)


@pytest.mark.parametrize("bad", [b"\xff\xfe# Tasks\n", b"\0\0\0"])
def test_a_file_that_cannot_be_read_hides_no_other(tmp_path: Path, bad: bytes) -> None:
    folder = spec_kit(tmp_path)
    (folder / "tasks.md").write_bytes(bad)
    (spec,) = list_foreign(tmp_path)
    assert spec.tasks == ()
    assert ticket_from(spec).title == "Sums that are right"


def test_an_empty_spec_is_a_usage_error(tmp_path: Path) -> None:
    folder = spec_kit(tmp_path, spec="", plan="", tasks="")
    (folder / "spec.md").write_text("")
    with pytest.raises(UsageError, match="contains nothing"):
        ticket_from(list_foreign(tmp_path)[0])


def test_proved_boxes_are_ticked_where_they_stand_and_nothing_else_changes(tmp_path: Path) -> None:
    folder = kiro(tmp_path, tasks=PLAN_OF_KIRO.replace("\n", "\r\n"))
    ticket = ticket_from(list_foreign(tmp_path)[0])
    lines = {line.label: (line.path, line.line) for line in ticket.done if line.box}
    before = {path: path.read_bytes() for path in folder.iterdir()}

    proved = {lines["2.1"], lines["2.2"], lines["3"], (ticket.done[-1].path, ticket.done[-1].line)}
    assert tick_foreign(tmp_path, ticket, proved) == ("2.1", "2.2", "3")
    assert tick_foreign(tmp_path, ticket, proved) == ("2.1", "2.2", "3"), "again changes nothing"

    text = (folder / "tasks.md").read_bytes()
    for label in ("2.1", "2.2"):
        assert f"x]{'*' if label == '2.2' else ''} {label}".encode() in text
    assert b"- [x] 3." in text
    assert b"- [ ] 2. Show" in text, "what nothing proves stays open"
    expected = before[folder / "tasks.md"].replace(b"[ ] 2.1", b"[x] 2.1").replace(b"[ ]* 2.2", b"[x]* 2.2")
    assert text == expected.replace(b"[-] 3", b"[x] 3")
    assert (folder / "requirements.md").read_bytes() == before[folder / "requirements.md"]


def test_a_spec_changed_during_the_run_is_not_ticked(tmp_path: Path) -> None:
    folder = spec_kit(tmp_path)
    ticket = ticket_from(list_foreign(tmp_path)[0], "T002")
    (folder / "tasks.md").write_text(TASKS.replace("- [x] T001", "- [x] T000 Read\n- [x] T001"))
    with pytest.raises(SpecError, match="was changed during the run"):
        tick_foreign(tmp_path, ticket, {(ticket.done[0].path, ticket.done[0].line)})
    assert "[ ] T002" in (folder / "tasks.md").read_text()


@given(MARKDOWN, MARKDOWN, MARKDOWN)
def test_any_text_has_a_reading_and_every_line_is_in_its_file(one: str, two: str, three: str) -> None:
    kits = read_spec_kit("specs/x", {"spec.md": one, "plan.md": two, "tasks.md": three})
    kiros = read_kiro(".kiro/specs/x", {"requirements.md": one, "design.md": two, "tasks.md": three})
    lengths = [len(read_markdown(text).lines) for text in (one, three)]
    for spec in (kits, kiros):
        assert all(0 < task.line <= lengths[1] for task in spec.tasks)
        assert all(0 < line.line <= lengths[0] for line in spec.criteria)
        assert all(task.text for task in spec.tasks)


@given(MARKDOWN)
def test_ticking_every_task_leaves_none_open_and_changes_one_character_each(text: str) -> None:
    tasks = read_tasks(read_markdown(text))
    ticked = tick_tasks(text, [task.line for task in tasks])
    again = read_tasks(read_markdown(ticked))

    assert [(task.name, task.text, task.line) for task in again] == [
        (task.name, task.text, task.line) for task in tasks
    ]
    assert all(task.checked for task in again)
    assert tick_tasks(ticked, [task.line for task in tasks]) == ticked
    assert tick_tasks(text, []) == text
    changed = sum(one != two for one, two in zip(text.splitlines(), ticked.splitlines(), strict=True))
    assert changed == sum(not task.checked for task in tasks)


def test_a_folder_nobody_may_look_into_is_told_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec_kit(tmp_path)
    locked = tmp_path / "specs" / "002-locked"
    locked.mkdir()
    (locked / "spec.md").touch()

    def closed(call: Callable[..., Any]) -> Callable[..., Any]:
        def refused(path: Any, *rest: Any, **more: Any) -> Any:
            if locked.name in str(path):
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return call(path, *rest, **more)

        return refused

    for owner, name in ((Path, "is_file"), (os, "open")):  # as root every path is readable
        monkeypatch.setattr(owner, name, closed(getattr(owner, name)))

    spec, unread = list_foreign(tmp_path)

    assert (spec.id, unread.id) == ("001-sums", "002-locked")
    with pytest.raises(UsageError, match=r"specs/002-locked/spec.md:1: cannot be read: .*permission denied"):
        ticket_from(unread)


@pytest.mark.parametrize("text", [" " * 100_000, "\t " * 50_000, "(depends on" * 9_000, " (depends on " * 9_000])
def test_a_long_line_is_read_soon(text: str) -> None:
    with bounded_cpu():
        (task,) = read_tasks(read_markdown(f"- [ ] T001 a{text}b\n"))
    assert task.name == "T001"
