"""An issue entry is readable, reads back exactly, and nothing in it can end, split or imitate an entry."""

import json
import re
import unicodedata
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.failures.outcomes import EXIT_STATUS, Outcome
from kotef.sdd.follow_up import AMBIGUOUS, advice_alone, follow_up
from kotef.sdd.issue import MAX_TEXT, IssueEntry, IssueFailure, Sighting
from kotef.sdd.issue_log_text import recorded
from kotef.sdd.issue_markdown import parse_issues, render


def failure(**facts) -> IssueFailure:
    known = {
        "visit": 3,
        "command": "pytest -q",
        "exit_code": 1,
        "kind": "test_failure",
        "detail": "assertion",
        "summary": "AssertionError: assert 1 == 2",
        "tests": ("tests/test_x.py::test_y", "tests/test_x.py::test_z"),
    }
    return IssueFailure(**(known | facts))


def entry(run_id: str = "20260102-030405-ab12", **facts) -> IssueEntry:
    known = {
        "run_id": run_id,
        "date": "2026-01-02T03:04:05Z",
        "outcome": "bounded_attempts_exceeded",
        "reason": "bounded_attempts_exceeded",
        "sentence": "all 3 attempts failed verification",
        "goal": "make test_y pass",
        "ticket": "07",
        "attempts": 3,
        "max_attempts": 3,
        "entries": (failure(),),
        "last_error_kinds": ("test_failure",),
        "last_command": "pytest -q",
        "files_changed": ("src/x.py",),
        "run_dir": f".sdd/runs/{run_id}",
        "patches": (f".sdd/runs/{run_id}/visit-3.patch",),
        "follow_up": "inspect `tests/test_x.py::test_y`: AssertionError",
        "resume": f"kotef resume {run_id}",
        "notes": ("put back before judging: tests/test_x.py",),
    }
    return IssueEntry(**(known | facts))


def readable(text: str) -> str:
    return re.sub(r"<!-- kotef:.*? -->", "", text)


def test_what_no_command_reported_is_told_without_a_command_or_an_empty_kind() -> None:
    """The verdict's own reasons have no command line, and `unknown` says nothing to anybody."""
    judged = failure(command="", exit_code=0, kind="unknown", detail="put_back", summary="put back: x", tests=())
    ran = failure(kind="unknown", detail="", summary="", tests=())
    text = readable(render(entry(entries=(judged, ran), last_error_kinds=(), last_command="")))

    assert "- visit 3: put_back: `put back: x`\n- visit 3: `pytest -q`, exit 1\n" in text
    assert "unknown" not in text
    assert "Last failing command" not in text


def test_lines_of_a_summary_do_not_run_into_each_other() -> None:
    """What kotef writes on one line stays as readable as the lines were."""
    lines = failure(summary="assert 990 == 900\ncompared with the attempt before: 1 of 1\nend.\nmore", tests=())
    said = "assert 990 == 900; compared with the attempt before: 1 of 1; end. more"

    assert said in follow_up("stuck", "", (lines,))
    assert said in readable(render(entry(entries=(lines,))))


def test_the_next_step_never_asks_to_run_what_is_no_command() -> None:
    judged = failure(
        command="", exit_code=0, kind="unknown", detail="put_back_left", summary="a file is left", tests=()
    )

    assert follow_up("stuck", "", (judged,)) == "fix what the verdict names: a file is left"
    assert follow_up("stuck", "", (judged, failure(tests=()))).startswith("run `pytest -q` and fix")


def test_an_entry_says_what_a_person_needs() -> None:
    text = readable(render(entry(entries=(failure(), failure(exit_code=None, tests=())))))

    for fact in (
        "## 2026-01-02T03:04:05Z · bounded_attempts_exceeded · make test_y pass",
        "- **Run**: `20260102-030405-ab12`, open",
        "- **Goal**: make test_y pass",
        "- **Ticket**: 07",
        "- **Outcome**: bounded_attempts_exceeded",
        "- **Why**: all 3 attempts failed verification",
        "- **Attempts**: 3 of 3",
        "- **Last error kinds**: test_failure",
        "- **Last failing command**: `pytest -q`",
        "- **Files changed**: `src/x.py`",
        "- **Logs**: `.sdd/runs/20260102-030405-ab12`",
        "- **Patches**: `.sdd/runs/20260102-030405-ab12/visit-3.patch`",
        "- **Next**: inspect `tests/test_x.py::test_y`: AssertionError",
        "- **Resume**: `kotef resume 20260102-030405-ab12`",
        "- **Note**: put back before judging: tests/test_x.py",
        "- visit 3: `pytest -q`, exit 1, test_failure/assertion: `AssertionError: assert 1 == 2`",
        "  - `tests/test_x.py::test_y`",
        "- visit 3: `pytest -q`, timeout, test_failure/assertion: `AssertionError: assert 1 == 2`",
    ):
        assert fact in text.splitlines()


def test_a_resolved_entry_says_so() -> None:
    text = readable(render(entry(state="resolved")))
    assert "· resolved ·" in text
    assert "`, resolved" in text


def ending(found: IssueEntry) -> str:
    """The comment that ends the entry."""
    return render(found).splitlines()[-1]


def test_the_comment_that_ends_an_entry_is_one_short_line() -> None:
    """What one reads is the entry; the comment has hashes of its lines, and what the lines do not say."""
    lines = len(render(entry()).splitlines())
    assert len(ending(entry())) <= 60 + 4 * lines
    more = failure(fingerprint="3c2c8a897334", summary="assert 990 == 900\nand one more")
    assert len(ending(entry(entries=(more,) * 3, checks=("pytest -q",)))) <= 200 + 4 * lines


def test_what_the_lines_do_not_say_exactly_is_in_the_comment() -> None:
    long = entry(sentence="why " * 300, entries=(failure(fingerprint="3c2c8a897334"),))
    stored = json.loads(re.search(r"kotef:end \S+ (\{.*\}) -->", render(long))[1])

    assert stored.keys() == {"lines", "sentence", "failures"}
    assert stored["failures"] == [{"fingerprint": "3c2c8a897334"}]


def test_an_entry_of_a_later_version_is_still_read() -> None:
    text = render(entry()).replace('{"lines"', '{"somethingNew": 1, "lines"')
    text = text.replace("- **Ticket**", "- **Weather**: fine\n- **Ticket**")
    assert parse_issues(text).entries == (entry(),)


def older(found: IssueEntry) -> str:
    """The entry as versions before wrote it: all values as JSON in the comment."""
    stored = found.model_dump_json(by_alias=True).replace("--", "\\u002d\\u002d")
    return re.sub(r"(kotef:end \S+) \{.*\}", lambda end: f"{end[1]} {stored}", render(found))


def test_an_entry_of_an_older_version_is_read_and_written_in_the_new_form() -> None:
    found = entry(entries=(failure(fingerprint="3c2c8a897334"),))
    text = older(found)
    assert '"maxAttempts":3' in text
    assert parse_issues(text).entries == (found,)

    noted = text.replace("- **Ticket**: 07", "- **Ticket**: 07\n\nmine: look at the cart first")
    after, change = recorded(noted, found.model_copy(update={"attempts": 2}))
    assert change == "updated"
    assert "mine: look at the cart first" in after
    assert '"maxAttempts"' not in after
    assert parse_issues(after).entries == (found.model_copy(update={"attempts": 2}),)


def test_a_line_that_a_person_changed_is_what_the_entry_says_and_stays() -> None:
    text = render(entry()).replace("- **Goal**: make test_y pass", "- **Goal**: make test_y pass (Ada is on it)")
    (read,) = parse_issues(text).entries
    assert read.goal == "make test_y pass (Ada is on it)"

    again, change = recorded(text, entry(attempts=2))
    assert change == "updated"
    assert again.count("(Ada is on it)") == 1
    assert "- **Attempts**: 2 of 3" in again


def test_a_line_that_a_person_and_a_repeat_change_alike_stands_once() -> None:
    same = (failure(fingerprint="3c2c8a897334"),)
    text = render(entry(ticket=None, entries=same)).replace("- **Goal**: make test_y pass", "- **Goal**: a better goal")
    repeat = entry("r9", ticket=None, entries=same, goal="a better goal")
    after, change = recorded(text, repeat)
    assert change == "seen_again"
    assert after.count("- **Goal**: a better goal") == 1


MARKS = st.sampled_from(
    [
        "\n",
        "\r\n",
        "\r",
        "-->",
        "<!--",
        "--",
        "--!>",
        "## 2026",
        "```",
        "~~~",
        "`",
        "](http://x)",
        "![i",
        "<b>",
        "\x1b[31m",
        "\x1b]8;;x\x07",
        "\u202e",
        "\u2028",
        "\x85",
        "\x00",
        "\\",
        "{",
        "}",
        '"',
        "<!-- kotef:issue r1 -->",
        '<!-- kotef:end r1 {"a":1} -->',
        "�",
        "é",
        "🙂",
        " ",
    ]
)
TEXTS = st.lists(st.one_of(MARKS, st.text(max_size=8)), max_size=8).map("".join)
IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,12}", fullmatch=True)
KINDS = ["test_failure", "lint_failure", "runtime_error", "tooling_error", "unknown"]


@st.composite
def failures(draw: st.DrawFn) -> IssueFailure:
    command, detail, summary, test = draw(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS))
    code, kind = draw(st.none() | st.integers(-64, 255)), draw(st.sampled_from(KINDS))
    return failure(
        command=command,
        exit_code=code,
        kind=kind,
        detail=detail,
        summary=summary,
        fingerprint=test,
        tests=(test, command),
    )


@st.composite
def entries(draw: st.DrawFn) -> IssueEntry:
    """Every text of an entry is one of a few, so that drawing it is quick."""
    text = cycle(draw(st.lists(TEXTS, min_size=1, max_size=5))).__next__
    return IssueEntry(
        run_id=draw(IDS),
        date=text(),
        outcome=draw(st.sampled_from(list(EXIT_STATUS))),
        reason=text(),
        sentence=text(),
        state=draw(st.sampled_from(["open", "resolved"])),
        goal=text(),
        ticket=draw(st.sampled_from([None, text()])),
        attempts=draw(st.integers(0, 20)),
        max_attempts=3,
        entries=draw(st.lists(failures(), max_size=1)),
        last_error_kinds=(text(), text()),
        last_command=text(),
        files_changed=(text(),),
        run_dir=text(),
        patches=(text(),),
        follow_up=text(),
        resume=text(),
        notes=(text(), text()),
        resolved_by=text(),
        resolved_at=text(),
        checks=(text(),),
        seen_again=(Sighting(run_id=draw(IDS), date=text(), reopened=draw(st.booleans())),),
        seen_before=draw(st.integers(0, 3)),
    )


HAND = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(
            [
                "<<<<<<< HEAD",
                "=======",
                ">>>>>>> x",
                "```",
                "<!--",
                "<!-- kotef:issue torn -->",
                "<!-- kotef:end torn {} -->",
            ]
        ),
    ),
    max_size=4,
).map("\n".join)


@example_count(80)
@given(
    st.lists(entries(), max_size=3, unique_by=lambda found: found.run_id),
    st.lists(HAND, min_size=4, max_size=4),
    st.booleans(),
)
def test_any_entries_read_back_exactly_whatever_stands_between_them(
    written: list[IssueEntry], hand: list[str], crlf: bool
) -> None:
    text = hand[3] + "".join(f"\n{render(found)}{between}" for found, between in zip(written, hand, strict=False))
    text = text.replace("\n", "\r\n") if crlf else text

    expected = [found for found in written if found.run_id != "torn"]
    assert [found for found in parse_issues(text).entries if found.run_id != "torn"] == expected


@example_count(80)
@given(entries())
def test_no_line_of_an_entry_comes_from_outside(found: IssueEntry) -> None:
    first, heading, *body, last = render(found).removesuffix("\n").split("\n")

    assert first == f"<!-- kotef:issue {found.run_id} -->"
    assert heading.startswith("## ")
    assert last.startswith(f"<!-- kotef:end {found.run_id} {{")
    assert last.endswith("} -->")
    assert last.isascii()
    assert not re.search(r"<|>|--", last.removeprefix("<!-- ").removesuffix(" -->").replace(found.run_id, ""))
    assert all(
        line in ("", "Last failures, newest last:") or re.match(r"- (\*\*|visit )|  - |$", line) for line in body
    )
    assert not any(unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp", "Cs") for line in body for letter in line)


def test_a_goal_cannot_forge_an_entry_a_link_or_a_heading() -> None:
    forged = render(entry("forged"))
    text = render(entry(goal=f"[click](http://evil) <img src=x> \x1b[2J\n## Heading\n{forged}"))

    assert [found.run_id for found in parse_issues(text).entries] == ["20260102-030405-ab12"]
    assert parse_issues(text).problems == ()
    assert "[click]&#40;http://evil) &lt;img src=x> ## Heading &lt;!--" in text
    assert "](http" not in readable(text)
    assert "<img" not in readable(text)
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if line.startswith("#")] == [text.splitlines()[1]]


def test_a_code_span_holds_any_backticks() -> None:
    assert "```` a```b ````" not in render(entry(last_command="a```b"))
    assert "- **Last failing command**: ````a```b````" in render(entry(last_command="a```b"))
    assert "- **Last failing command**: `` `a` ``" in render(entry(last_command="`a`"))


def test_texts_are_bounded_and_bytes_of_odd_file_names_are_kept_as_escapes() -> None:
    found = entry(goal="x" * (MAX_TEXT + 1), files_changed=("caf\udce9.py",))

    assert len(found.goal) == MAX_TEXT
    assert found.files_changed == ("caf\\udce9.py",)
    assert parse_issues(render(found)).entries == (found,)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text.replace("<!-- kotef:end", "<!-- kotef:ende"), "has no end"),
        (lambda text: text.replace("- **Attempts**: 3 of 3", "- **Attempts**: many"), "cannot be read: attempts"),
        (lambda text: text.replace('{"lines"', '{lines"'), "cannot be read: its values"),
        (
            lambda text: text.replace('{"lines"', '{"runId":"other","lines"'),
            "contains the values of another run",
        ),
        (lambda text: text + "\n" + text, "a second entry of run"),
    ],
)
def test_a_damaged_entry_is_a_problem_with_its_line_and_hides_no_other(damage, said: str) -> None:
    text = "# Issues\n\n" + damage(render(entry())) + "\n" + render(entry("good"))

    log = parse_issues(text, "log.md")

    assert "good" in [found.run_id for found in log.entries]
    (problem,) = log.problems
    assert said in problem.text
    assert problem.path == "log.md"
    assert text.split("\n")[problem.line - 1] == "<!-- kotef:issue 20260102-030405-ab12 -->"


@pytest.mark.parametrize(
    ("outcome", "found", "sentence"),
    [
        ("bounded_attempts_exceeded", [failure()], "inspect `tests/test_x.py::test_y` (and 1 more): AssertionError: assert 1 == 2"),
        ("stuck", [failure(visit=2), failure(tests=(), summary="E501"), failure(tests=("t::a",), summary="boom")], "inspect `t::a`: boom"),
        ("stuck", [failure(tests=(), summary="x.py:1: E501")], "run `pytest -q` and fix what it reports: x.py:1: E501"),
        ("stuck", [], "read the report of the run: why"),
        (
            "bounded_attempts_exceeded",
            [failure(command="review", detail="review_refused", summary="it returns a constant.", tests=())],
            "read the diff against the review (it returns a constant); then close the ticket by hand, or say what is missing",
        ),
        ("budget_exceeded", [], "resume with a larger limit: why"),
        ("budget_exceeded", [failure(tests=("t::a",), summary="")], "resume with a larger limit: why; or inspect `t::a`"),
        ("environment_broken", [], "make the checks runnable, or name one with `--check` or in a ticket's `## Tests` block: why"),
        ("environment_broken", [failure(detail="command_not_found", summary="pytest: not found")], "install what `pytest -q` needs, check that it starts, then resume: pytest: not found"),
        ("environment_broken", [failure(detail="no_space", summary="")], "free disk space for `pytest -q`, then resume"),
        ("blocked", [failure()], "decide what kotef may not decide: why; write the answer into the ticket, then run it again"),
        ("model_unavailable", [], "run `kotef doctor`, fix the endpoint (why), then resume"),
        ("interrupted", [], "resume the run, or leave it: no check has failed so far"),
        ("crashed", [], "report this defect in kotef, with traceback.txt from the run directory: why; then resume"),
        ("unverified", [], "read the diff, because no check judged it; then name a check with `--check` or in `.sdd/kotef.toml`"),
        ("verified", [], "nothing is left to do"),
    ],
)  # fmt: skip
def test_the_follow_up_is_concrete(outcome: Outcome, found: list[IssueFailure], sentence: str) -> None:
    assert follow_up(outcome, "why.", found) == sentence


LONG_SENTENCE = f"the reasons are {'many, ' * 60}and more"


@pytest.mark.parametrize("sentence", ["a) or b), which one?", "it was refused (401).", LONG_SENTENCE], ids=len)
@pytest.mark.parametrize("outcome", EXIT_STATUS)
def test_where_the_sentence_has_been_shown_the_advice_does_not_repeat_it(outcome: Outcome, sentence: str) -> None:
    alone = advice_alone(follow_up(outcome, sentence, []), sentence)
    assert sentence[:60].rstrip(".") not in alone
    assert re.match(r"\w", alone)


def test_a_blocked_run_says_what_to_do_about_the_sentence_above() -> None:
    alone = advice_alone(follow_up("blocked", "which one?", []), "which one?")
    assert alone == "decide what kotef may not decide; write the answer into the ticket, then run it again"


def test_only_several_passing_edits_are_answered_by_an_assertion() -> None:
    question = "which database should it use?"
    assert follow_up("blocked", question, []).startswith("decide what kotef may not decide")
    assert follow_up("blocked", question, [], reason=AMBIGUOUS).startswith("answer the question with an assertion")


@pytest.mark.parametrize("outcome", list(EXIT_STATUS))
@example_count(10)
@given(TEXTS, st.lists(failures(), max_size=2))
def test_every_follow_up_is_one_printable_line(outcome: Outcome, reason: str, found: list[IssueFailure]) -> None:
    sentence = follow_up(outcome, reason, found)
    assert sentence
    assert sentence.isprintable()
