"""The folder of tickets: one bad file hides no other, a ticket is found by any of its names, closing keeps every byte."""

import errno
import os
from pathlib import Path

import pytest

from kotef.errors import NoSpaceError, SpecError, UsageError, WorkspaceError
from kotef.sdd.tickets import TicketFolder, close_ticket, find_ticket, list_tickets, open_dependencies

OPEN = ".sdd/backlog/tickets/open"


def ticket(root: Path, name: str, text: str | bytes = "# T\n\n## DoD\n\n- [ ] a\n", folder: str = OPEN) -> Path:
    path = root / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def ids(folder: TicketFolder) -> list[str]:
    return [found.id for found in folder.open]


def test_a_workspace_without_sdd_has_no_tickets(tmp_path: Path) -> None:
    assert list_tickets(tmp_path) == TicketFolder()


def test_tickets_of_both_folders_are_listed_by_number(tmp_path: Path) -> None:
    ticket(tmp_path, "10-b.md")
    ticket(tmp_path, "9-a.md", folder=".sdd/backlog/open")
    ticket(tmp_path, "cleanup.md")
    ticket(tmp_path, "02-z.md", folder=".sdd/backlog/tickets/closed")
    ticket(tmp_path, "1-y.md", folder=".sdd/backlog/closed")
    for no_ticket in ("README.md", "_draft.md", ".hidden.md", "notes.txt"):
        ticket(tmp_path, no_ticket)

    folder = list_tickets(tmp_path)

    assert ids(folder) == ["9", "10", "cleanup"]
    assert folder.open[0].path == ".sdd/backlog/open/9-a.md"
    assert (folder.closed, folder.closed_slugs) == (("1", "02"), ("y", "z"))
    assert folder.problems == ()


def test_a_bad_file_is_a_problem_and_hides_no_other(tmp_path: Path) -> None:
    ticket(tmp_path, "01-latin.md", b"# T\n\ncaf\xe9\n")
    ticket(tmp_path, "02-empty.md", "")
    (tmp_path / OPEN / "03-directory.md").mkdir()
    os.mkfifo(tmp_path / OPEN / "04-pipe.md")
    (tmp_path / OPEN / "05-gone.md").symlink_to(tmp_path / "nowhere")
    outside = tmp_path.parent / f"{tmp_path.name}-outside.md"
    outside.write_text("# secret")
    (tmp_path / OPEN / "06-outside.md").symlink_to(outside)
    ticket(tmp_path, "07-new\nline.md")
    with Path(os.fsdecode(os.fsencode(tmp_path / OPEN) + b"/08-\xff.md")).open("w") as file:
        file.write("# T")
    ticket(tmp_path, "09-good.md")

    folder = list_tickets(tmp_path)

    assert ids(folder) == ["09"]
    named = {Path(problem.path).name: problem for problem in folder.problems}
    assert set(named) == {
        "01-latin.md", "02-empty.md", "03-directory.md", "04-pipe.md", "05-gone.md", "06-outside.md", "07-new\\nline.md", "08-\\udcff.md"
    }  # fmt: skip
    assert named["01-latin.md"].line == 3
    assert named["01-latin.md"].text == "cannot be read: byte 8 is not UTF-8; save the file as UTF-8"
    assert "leads out of the workspace" in named["06-outside.md"].text
    assert all("\n" not in problem.text for problem in folder.problems)


def test_a_folder_that_is_a_file_is_a_problem(tmp_path: Path) -> None:
    ticket(tmp_path, "open", folder=".sdd/backlog/tickets")
    ticket(tmp_path, "01-a.md", folder=".sdd/backlog/open")

    folder = list_tickets(tmp_path)

    assert ids(folder) == ["01"]
    assert [problem.path for problem in folder.problems] == [".sdd/backlog/tickets/open"]


def test_a_very_long_ticket_is_read_to_a_bound(tmp_path: Path) -> None:
    ticket(tmp_path, "01-long.md", "# T\n\n## Objective\n\nX\n" + "word \n" * 100_000)

    (long,) = list_tickets(tmp_path).open

    assert long.objective.startswith("X")
    assert "only its head was read" in long.problems[0].text


def test_two_tickets_of_one_number_are_both_listed_and_named(tmp_path: Path) -> None:
    ticket(tmp_path, "01-a.md")
    ticket(tmp_path, "1-b.md")

    folder = list_tickets(tmp_path)

    assert ids(folder) == ["01", "1"]
    assert [problem.text for problem in folder.problems] == [
        f"has the same number as {OPEN}/01-a.md; give one of them another number"
    ]


@pytest.mark.parametrize("wanted", ["7", "07", "#7", "007", "parse-it", "Parse-It", "07-parse-it", "07-parse-it.md", f"{OPEN}/07-parse-it.md", f"./{OPEN}/07-parse-it.md", f"/work/x/{OPEN}/07-parse-it.md", " 07 "])  # fmt: skip
def test_a_ticket_is_found_by_any_of_its_names(tmp_path: Path, wanted: str) -> None:
    ticket(tmp_path, "07-parse-it.md")
    ticket(tmp_path, "70-other.md")

    assert find_ticket(list_tickets(tmp_path), wanted).id == "07"


def test_an_unknown_ticket_is_a_usage_error_that_names_the_open_ones(tmp_path: Path) -> None:
    ticket(tmp_path, "07-parse-it.md")

    with pytest.raises(
        UsageError, match=r"^no open ticket 'parse-ti'; did you mean 'parse-it'\? \(open: 07-parse-it\.md\)$"
    ):
        find_ticket(list_tickets(tmp_path), "parse-ti")
    with pytest.raises(UsageError, match=r"^no open ticket '\?\?x' \(open: none\)$"):
        find_ticket(TicketFolder(), "\x1b\nx")
    with pytest.raises(UsageError, match=r"no open ticket ''"):
        find_ticket(list_tickets(tmp_path), "")


def test_a_closed_ticket_is_said_to_be_closed(tmp_path: Path) -> None:
    ticket(tmp_path, "02-done.md", folder=".sdd/backlog/tickets/closed")

    with pytest.raises(UsageError, match="ticket '2' is closed"):
        find_ticket(list_tickets(tmp_path), "2")


def test_an_ambiguous_name_is_a_usage_error_and_the_file_name_settles_it(tmp_path: Path) -> None:
    ticket(tmp_path, "01-a.md")
    ticket(tmp_path, "1-b.md")
    folder = list_tickets(tmp_path)

    with pytest.raises(UsageError, match=r"'1' is ambiguous: 01-a\.md, 1-b\.md \(name its file\)"):
        find_ticket(folder, "1")
    assert find_ticket(folder, "1-b.md").slug == "b"


def test_only_closed_tickets_are_dependencies_that_are_met(tmp_path: Path) -> None:
    ticket(tmp_path, "04-d.md", "# T\nDependencies: 1, 02, lexer-rework, parser-rework, 99\n")
    ticket(tmp_path, "02-b.md")
    ticket(tmp_path, "01-a.md", folder=".sdd/backlog/tickets/closed")
    ticket(tmp_path, "03-lexer-rework.md", folder=".sdd/backlog/tickets/closed")
    folder = list_tickets(tmp_path)

    assert open_dependencies(find_ticket(folder, "4"), folder) == ("02", "parser-rework", "99")
    assert open_dependencies(find_ticket(folder, "2"), folder) == ()


BYTES = b"\xef\xbb\xbf# T\r\n\r\n## DoD\r\n\r\n- [ ] a  \r\n\t* [] b\n- [x] c\r- [ ] d"
TICKED = b"\xef\xbb\xbf# T\r\n\r\n## DoD\r\n\r\n- [x] a  \r\n\t* [x] b\n- [x] c\r- [ ] d"
DONE = TICKED.replace(b"- [ ] d", b"- [x] d")


def only(root: Path):
    (found,) = list_tickets(root).open
    return found


def test_closing_ticks_what_was_proved_and_keeps_every_other_byte_and_the_mode(tmp_path: Path) -> None:
    source = ticket(tmp_path, "01-a.md", BYTES)
    source.chmod(0o640)

    target = close_ticket(tmp_path, only(tmp_path), {5, 6, 8, 1, 99})

    assert target == tmp_path / ".sdd/backlog/tickets/closed/01-a.md"
    assert target.read_bytes() == DONE
    assert target.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in source.parent.iterdir()] == []
    assert list_tickets(tmp_path).closed == ("01",)


@pytest.mark.parametrize("proved", [(), (5,), (5, 6)])
def test_a_ticket_with_a_line_that_nothing_proves_is_ticked_and_stays_open(
    tmp_path: Path, proved: tuple[int, ...]
) -> None:
    source = ticket(tmp_path, "01-a.md", BYTES)

    target = close_ticket(tmp_path, only(tmp_path), proved)

    assert target == source
    assert source.read_bytes().count(b"[x]") == 1 + len(proved)
    assert list_tickets(tmp_path).closed == ()


def test_lines_that_a_person_ticked_during_the_run_need_no_proof(tmp_path: Path) -> None:
    source = ticket(tmp_path, "01-a.md", BYTES)
    found = only(tmp_path)
    source.write_bytes(BYTES.replace(b"- [ ] d", b"- [x] d"))

    assert close_ticket(tmp_path, found, {5, 6}).read_bytes() == DONE


def test_closing_again_after_a_crash_changes_nothing(tmp_path: Path) -> None:
    source = ticket(tmp_path, "01-a.md", BYTES)
    found = only(tmp_path)
    source.write_bytes(TICKED)  # a crash between the ticks and the move

    first = close_ticket(tmp_path, found, [5, 6, 8])
    assert close_ticket(tmp_path, found, [5, 6, 8]) == first
    assert first.read_bytes() == DONE


def test_closing_never_overwrites_a_closed_ticket(tmp_path: Path) -> None:
    source = ticket(tmp_path, "01-a.md")
    other = ticket(tmp_path, "01-a.md", "another", folder=".sdd/backlog/tickets/closed")
    before = source.read_bytes()

    with pytest.raises(SpecError, match=r"^\.sdd/backlog/tickets/closed/01-a\.md: exists already"):
        close_ticket(tmp_path, only(tmp_path), [5])

    assert (source.read_bytes(), other.read_text()) == (before, "another")


def test_a_ticket_that_somebody_changed_during_the_run_stays_open(tmp_path: Path) -> None:
    source = ticket(tmp_path, "01-a.md")
    found = only(tmp_path)
    source.write_text(source.read_text() + "- [ ] and this\n")

    with pytest.raises(SpecError, match="was changed during the run"):
        close_ticket(tmp_path, found, [5])

    assert source.read_text() == "# T\n\n## DoD\n\n- [ ] a\n- [ ] and this\n"


def test_a_ticket_that_is_gone_cannot_be_closed(tmp_path: Path) -> None:
    source = ticket(tmp_path, "01-a.md")
    found = only(tmp_path)
    source.unlink()

    with pytest.raises(SpecError, match="is gone"):
        close_ticket(tmp_path, found, [])


def test_closing_does_not_follow_a_link_out_of_the_workspace(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    outside.mkdir()
    source = ticket(root, "01-a.md")
    (root / ".sdd/backlog/tickets/closed").symlink_to(outside)

    with pytest.raises(WorkspaceError, match="leads out of the workspace"):
        close_ticket(root, list_tickets(root).open[0], [5])

    assert source.exists()
    assert list(outside.iterdir()) == []


def test_a_full_disk_leaves_the_ticket_open_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = ticket(tmp_path, "01-a.md", BYTES)
    found = only(tmp_path)

    def full(_fd: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoSpaceError):
        close_ticket(tmp_path, found, [5])

    assert source.read_bytes() == BYTES
    assert [path.name for path in source.parent.iterdir()] == ["01-a.md"]
