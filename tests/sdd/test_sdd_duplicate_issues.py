"""A run that ends as one before it did adds a line to that entry; what settles it resolves it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.errors import UsageError, WorkspaceError
from kotef.sdd.duplicate_issues import identity, resolved
from kotef.sdd.hand_edits import keep_hand_edits
from kotef.sdd.issue import MAX_SEEN, IssueEntry, IssueFailure
from kotef.sdd.issue_log import find_entry, has_entry, mark, record, settle
from kotef.sdd.issue_log_text import marked, recorded, settled
from kotef.sdd.issue_markdown import parse_issues, render


def failure(fingerprint: str = "f1", visit: int = 3) -> IssueFailure:
    return IssueFailure(
        visit=visit, command="pytest", exit_code=1, kind="test_failure", summary="boom", fingerprint=fingerprint
    )


def entry(run_id: str = "r1", **facts) -> IssueEntry:
    known = {
        "run_id": run_id, "date": f"date of {run_id}", "outcome": "stuck", "reason": "stuck", "goal": "g", "attempts": 3,
        "max_attempts": 3, "run_dir": f".sdd/runs/{run_id}", "follow_up": "look", "entries": (failure(),),
    }  # fmt: skip
    return IssueEntry(**(known | facts))


def log_of(*entries: IssueEntry) -> str:
    text: str | None = None
    for each in entries:
        text, _ = recorded(text, each)
    return text or ""


def found(text: str) -> dict[str, IssueEntry]:
    log = parse_issues(text)
    assert log.problems == ()
    return {each.run_id: each for each in log.entries}


# ---- what is the same


@pytest.mark.parametrize(
    ("facts", "same"),
    [
        ({"date": "later", "follow_up": "x", "run_dir": "y", "resume": "z", "files_changed": ("a",)}, True),
        ({"goal": " g\n"}, True),
        ({"attempts": 5, "max_attempts": 5}, True),
        ({"entries": (failure("other", visit=1), failure())}, True),
        ({"entries": (failure(visit=2), failure(visit=2))}, True),
        ({"goal": "h"}, False),
        ({"ticket": "07"}, False),
        ({"outcome": "bounded_attempts_exceeded"}, False),
        ({"reason": "nothing_left_to_try"}, False),
        ({"entries": (failure("f2"),)}, False),
        ({"entries": (failure("f1"), failure("f2"))}, False),
        ({"entries": ()}, False),
        ({"entries": (failure(""),)}, False),
    ],
)
def test_two_runs_are_the_same_when_they_leave_the_same_thing_to_do(facts: dict, same: bool) -> None:
    assert (identity(entry("r2", **facts)) == identity(entry())) is same


def test_a_ticket_is_the_same_whatever_its_title_and_without_a_goal_the_checks_are_the_task() -> None:
    assert identity(entry(ticket="7", goal="a")) == identity(entry(ticket="7", goal="b"))
    assert identity(entry(goal="", checks=("a",))) != identity(entry(goal="", checks=("b",)))
    assert identity(entry(goal="x", checks=("a",))) == identity(entry(goal="x", checks=("b",)))


def test_runs_without_a_failure_are_told_by_task_outcome_and_reason() -> None:
    none = {"entries": (), "outcome": "environment_broken", "reason": "no_checks"}
    text = log_of(entry(**none), entry("r2", **none), entry("r3", **(none | {"goal": "h"})))
    assert [each.runs for each in found(text).values()] == [("r1", "r2"), ("r3",)]


def test_an_entry_that_kept_no_fingerprints_is_the_same_as_no_other() -> None:
    old = entry(entries=(failure(""),))
    assert identity(old) is None
    assert list(found(log_of(old, entry("r2", entries=(failure(""),))))) == ["r1", "r2"]


# ---- a repeat


def test_a_repeat_adds_one_line_and_nothing_else() -> None:
    before = log_of(entry())
    after, change = recorded(before, entry("r2"))

    assert change == "seen_again"
    new = [line for line in after.splitlines() if line not in before.splitlines()]
    assert new[0] == "- **Seen again**: `r2`, date of r2"
    assert [line[:15] for line in new[1:]] == ["<!-- kotef:end "]
    assert [(seen.run_id, seen.date) for seen in found(after)["r1"].seen_again] == [("r2", "date of r2")]
    assert found(after)["r1"].model_copy(update={"seen_again": ()}) == entry()
    assert recorded(after, entry("r2")) == (after, "unchanged")
    third, _ = recorded(after, entry("r3"))
    assert recorded(third, entry("r2")) == (third, "unchanged"), "also when others came after it"


def test_the_list_of_repeats_is_bounded_and_their_number_is_not() -> None:
    text = log_of(*(entry(f"r{number}") for number in range(1, MAX_SEEN + 11)))

    (only,) = found(text).values()
    assert only.run_id == "r1"
    assert [seen.run_id for seen in only.seen_again] == [f"r{number}" for number in range(11, MAX_SEEN + 11)]
    assert only.seen_before == 9
    assert "- **Seen again**: 9 more runs, before these" in text


def test_a_resume_of_the_first_run_rewrites_its_entry_and_keeps_the_lines_of_the_others() -> None:
    text, change = recorded(log_of(entry(), entry("r2")), entry(date="later", attempts=5))
    assert change == "updated"
    assert found(text)["r1"].date == "later"
    assert found(text)["r1"].runs == ("r1", "r2")


def test_a_resume_of_a_repeat_that_ends_the_same_renews_its_line() -> None:
    text, change = recorded(log_of(entry(), entry("r2"), entry("r3")), entry("r2", date="later"))
    assert change == "updated"
    assert [(seen.run_id, seen.date) for seen in found(text)["r1"].seen_again] == [
        ("r3", "date of r3"),
        ("r2", "later"),
    ]


def test_a_resume_of_a_repeat_that_ends_otherwise_takes_its_line_with_it() -> None:
    text, change = recorded(log_of(entry(), entry("r2")), entry("r2", entries=(failure("f2"),)))
    assert change == "added"
    assert [each.runs for each in found(text).values()] == [("r1",), ("r2",)]


def test_a_resolved_entry_that_is_seen_again_is_reopened() -> None:
    text, done = settled(log_of(entry()), entry("r2", outcome="verified"))
    assert done == ("r1",)
    text, change = recorded(text, entry("r3"))
    assert change == "reopened"
    (again,) = found(text).values()
    assert (again.state, again.resolved_by, again.seen_again[0].reopened) == ("open", "", True)
    assert "- **Seen again**: `r3`, date of r3 (reopened)" in text.splitlines()


def test_an_open_entry_is_chosen_before_a_resolved_one() -> None:
    text = marked(log_of(entry(), entry("r2", goal="h")), "r1", lambda each: resolved(each, "a person", "d"))
    text = text.replace("- **Goal**: h\n", "- **Goal**: g\n")  # by hand
    after, change = recorded(text, entry("r3"))
    assert change == "seen_again"
    assert {run: each.runs for run, each in found(after).items()} == {"r1": ("r1",), "r2": ("r2", "r3")}


# ---- who resolves


def test_a_verified_run_resolves_the_open_entries_of_its_ticket() -> None:
    text = log_of(
        entry("r1", ticket="07"), entry("r2", ticket="07", entries=()), entry("r3", ticket="08"), entry("r4", goal="07")
    )
    after, done = settled(text, entry("r9", ticket="07", goal="other words"))
    assert done == ("r1", "r2")
    assert {run: each.state for run, each in found(after).items()} == {
        "r1": "resolved", "r2": "resolved", "r3": "open", "r4": "open",
    }  # fmt: skip
    assert found(after)["r1"].resolved_by == "r9"
    assert "- **Resolved**: by `r9`, date of r9" in after.splitlines()
    assert settled(after, entry("r10", ticket="07")) == (after, ()), "what is resolved stays as it is"


def test_a_verified_run_on_the_same_goal_resolves_and_one_on_other_checks_does_not() -> None:
    assert settled(log_of(entry()), entry("r2", goal="g "))[1] == ("r1",)
    assert settled(log_of(entry(goal="", checks=("a",))), entry("r2", goal="", checks=("b",)))[1] == ()


def test_a_resume_that_ends_verified_resolves_its_entry_or_the_one_it_is_a_line_of() -> None:
    text = log_of(entry(), entry("r2"))
    own, done = settled(text, entry(outcome="verified", sentence="it passes"))
    assert done == ("r1",)
    assert (found(own)["r1"].outcome, found(own)["r1"].state, found(own)["r1"].runs) == (
        "verified",
        "resolved",
        ("r1", "r2"),
    )
    other, done = settled(text, entry("r2", outcome="verified", goal="another goal by now"))
    assert done == ("r1",)
    assert (found(other)["r1"].outcome, found(other)["r1"].resolved_by) == ("stuck", "r2")


def test_a_person_resolves_and_reopens(tmp_path: Path) -> None:
    log = tmp_path / "issues.md"
    record(log, entry())
    before = log.read_bytes()
    assert mark(log, "r1", "resolved", date="today").resolved_by == "a person"
    once = log.read_bytes()
    assert mark(log, "r1", "resolved", date="tomorrow").resolved_at == "today"
    assert log.read_bytes() == once
    mark(log, "r1", "open", date="today")
    assert log.read_bytes() == before


# ---- finding


def test_an_entry_is_found_by_its_run_a_repeat_or_a_beginning_of_either(tmp_path: Path) -> None:
    log = parse_issues(log_of(entry("20260101-aa"), entry("20260102-bb"), entry("20260103-cc", goal="h")))
    assert find_entry(log, "20260101-aa").run_id == "20260101-aa"
    assert find_entry(log, "20260102").run_id == "20260101-aa"
    assert find_entry(log, "20260103").run_id == "20260103-cc"
    with pytest.raises(
        UsageError, match=r"^'2026' is ambiguous: 20260103-cc, 20260101-aa \(use a longer prefix of the id\)$"
    ):
        find_entry(log, "2026")
    with pytest.raises(UsageError, match=r"^no issue 'nope' \(the issues are 20260103-cc, 20260101-aa\)$"):
        find_entry(log, "nope")
    with pytest.raises(UsageError, match="there is none"):
        find_entry(parse_issues(""), "")


def test_has_entry_knows_the_runs_that_are_lines(tmp_path: Path) -> None:
    log = tmp_path / "issues.md"
    record(log, entry())
    record(log, entry("r2"))
    assert has_entry(log, "r2")
    assert not has_entry(log, "r3")


# ---- what people write


LINE = st.sampled_from(["a", "b", "c", "", "- x", "<<<<<<< HEAD", "=======", ">>>>>>> theirs", "mine"])
LINES = st.lists(LINE, max_size=6)


@example_count(200)
@given(LINES, LINES, LINES)
def test_a_merge_keeps_what_either_side_alone_has_changed(base: list[str], mine: list[str], new: list[str]) -> None:
    assert keep_hand_edits(base, mine, base) == mine
    assert keep_hand_edits(base, base, new) == new


@example_count(200)
@given(
    st.lists(LINE, max_size=6, unique=True),
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from(["note 1", "note 2"])), max_size=3),
    LINES,
)
def test_no_line_a_person_added_is_ever_lost(base: list[str], notes: list[tuple[int, str]], new: list[str]) -> None:
    mine = list(base)
    for at, note in notes:
        mine.insert(min(at, len(mine)), note)
    merged = keep_hand_edits(base, mine, new)
    assert [line for line in merged if line.startswith("note")] == [line for line in mine if line.startswith("note")]
    assert [line for line in merged if not line.startswith("note")] == new


def test_a_line_changed_by_both_stands_twice() -> None:
    assert keep_hand_edits(["a", "b", "c"], ["a", "B", "c"], ["a", "β", "c"]) == ["a", "B", "β", "c"]
    assert keep_hand_edits(["a", "b"], ["a", "B"], ["a", "x", "b"]) == ["a", "x", "B"]


HAND = st.lists(
    st.binary(max_size=12)
    | st.sampled_from(
        [b"\n", b"\r\n", b"<<<<<<< HEAD\n", b"=======\n", b">>>>>>> x\n", b"```\n", b"<!--\n", b"## mine\n", b"caf\xe9"]
    ),
    max_size=5,
).map(b"".join)
INSIDE = st.lists(
    st.sampled_from(["my note", "- [ ] look at the cache", "<<<<<<< HEAD", "caf\udce9", "```"]), max_size=2
)


@example_count(60)
@given(before=HAND, between=HAND, after=HAND, inside=INSIDE, crlf=st.booleans(), operation=st.integers(0, 5))
def test_every_operation_keeps_every_byte_outside_the_entry_it_touches(
    *, before: bytes, between: bytes, after: bytes, inside: list[str], crlf: bool, operation: int
) -> None:
    """The first entry is touched; a second, everything around them, and what was written into the first stay."""
    newline = "\r\n" if crlf else "\n"
    first = render(entry()).splitlines()
    first[5:5] = inside
    second = render(entry("r2", goal="other")).replace("\n", newline)
    head = f"{before.decode('utf-8', 'surrogateescape')}{newline}"
    tail = f"{newline}{between.decode('utf-8', 'surrogateescape')}{newline}{second}{after.decode('utf-8', 'surrogateescape')}"
    text = head + newline.join(first) + tail

    changed = [
        lambda: recorded(text, entry("r3"))[0],
        lambda: recorded(text, entry(date="later", sentence="another"))[0],
        lambda: recorded(text, entry(entries=()))[0],
        lambda: settled(text, entry("r3"))[0],
        lambda: settled(text, entry(outcome="verified"))[0],
        lambda: marked(text, "r1", lambda each: resolved(each, "a person", "d")),
    ][operation]()

    assert changed != text
    assert changed.startswith(head)
    assert changed.endswith(tail)
    touched = changed[len(head) : len(changed) - len(tail)]
    assert [line for line in touched.splitlines() if line in inside] == inside
    assert ("\r\n" in touched) is crlf
    assert touched.count("\n") == touched.count("\r\n") or not crlf
    known = parse_issues(changed).entries
    assert [each.run_id for each in known] == ["r1", "r2"]
    assert known[1] == entry("r2", goal="other")


@example_count(60)
@given(before=HAND, goal=st.sampled_from(["g", "h"]))
def test_an_appended_entry_follows_whatever_stood_there(before: bytes, goal: str) -> None:
    text = before.decode("utf-8", "surrogateescape")
    changed, change = recorded(text, entry(goal=goal))
    assert change == "added"
    assert changed.startswith(text)
    assert parse_issues(changed).entries == (entry(goal=goal),)


def test_conflict_markers_are_a_problem_with_a_line_and_both_sides_are_read() -> None:
    ours, theirs = render(entry("ours")), render(entry("theirs", goal="h"))
    text = f"# Issues\n\n<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> branch\n"
    log = parse_issues(text)
    assert [each.run_id for each in log.entries] == ["ours", "theirs"]
    assert [(problem.line, problem.text[:16]) for problem in log.problems] == [(3, "a merge conflict")]
    after, change = recorded(text, entry("r3", goal="h"))
    assert change == "seen_again"
    assert after.startswith(f"# Issues\n\n<<<<<<< HEAD\n{ours}=======\n")


def test_an_entry_merged_with_a_conflict_inside_keeps_both_sides() -> None:
    """Two branches saw the failure again; git put marks around the lines that differ, the ends included."""
    ours, theirs = (log_of(entry(), entry(run)).splitlines() for run in ("r2", "r3"))
    common = next(at for at, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
    text = "\n".join([*ours[:common], "<<<<<<< HEAD", *ours[common:], "=======", *theirs[common:], ">>>>>>> b", ""])
    after, _ = recorded(text, entry("r4"))
    (only,) = parse_issues(after).entries
    assert only.runs == ("r1", "r2", "r4")
    for line in ("<<<<<<< HEAD", "=======", ">>>>>>> b", *theirs[common:]):
        assert line in after.splitlines()


# ---- where it cannot be written


def test_a_log_whose_permission_to_write_was_taken_away_is_left(tmp_path: Path) -> None:
    log = tmp_path / "issues.md"
    record(log, entry())
    log.chmod(0o444)
    before = log.read_bytes()
    for change in (
        lambda: record(log, entry("r2")),
        lambda: settle(log, entry("r2")),
        lambda: mark(log, "r1", "resolved", date="d"),
    ):
        with pytest.raises(WorkspaceError, match=r"is read-only \(`chmod u\+w` lets kotef write it\)"):
            change()
    assert log.read_bytes() == before
    assert record(log, entry()) == "unchanged", "nothing to write, nothing to refuse"
