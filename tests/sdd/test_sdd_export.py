"""Entries go to code scanning as SARIF 2.1.0, and to GitHub as Markdown that pings nobody."""

import json
import re

import jsonschema
import pytest
from support.sarif import SARIF

from kotef.sdd.export import title, to_github, to_sarif
from kotef.sdd.issue import IssueEntry, IssueFailure, Sighting


def failure(summary: str = "tests/test_x.py:12: AssertionError: assert 1 == 2", **facts) -> IssueFailure:
    known = {
        "visit": 3, "command": "pytest -q", "exit_code": 1, "kind": "test_failure", "detail": "assertion", "summary": summary,
        "fingerprint": "f1", "tests": ("tests/test_x.py::test_y",),
    }  # fmt: skip
    return IssueFailure(**(known | facts))


def entry(run_id: str = "r1", **facts) -> IssueEntry:
    known = {
        "run_id": run_id, "date": "2026-01-02T03:04:05Z", "outcome": "stuck", "reason": "stuck", "goal": "make it add",
        "attempts": 3, "max_attempts": 3, "run_dir": f".sdd/runs/{run_id}", "follow_up": "inspect `test_y`: boom",
        "entries": (failure(),),
    }  # fmt: skip
    return IssueEntry(**(known | facts))


def results(*entries: IssueEntry) -> list[dict]:
    log = json.loads(json.dumps(to_sarif(entries)))
    jsonschema.Draft202012Validator(SARIF).validate(log)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for found in run["results"]:
        assert rules[found["ruleIndex"]] == found["ruleId"]
        assert (found["kind"] == "fail") is (found["level"] != "none"), "3.27.10: another kind has level none"
    return run["results"]


def test_an_entry_is_one_result_where_its_summary_says() -> None:
    (found,) = results(entry())
    assert found["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "tests/test_x.py", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 12},
            }
        }
    ]
    assert (found["ruleId"], found["level"]) == ("test_failure/assertion", "error")
    assert found["message"]["text"] == (
        "make it add: stuck. tests/test_x.py:12: AssertionError: assert 1 == 2\nNext: inspect `test_y`: boom"
    )


def test_an_empty_log_is_valid_and_resolved_entries_have_passed() -> None:
    assert results() == []
    open_one, settled = results(entry(), entry("r2", state="resolved", goal="h"))
    assert (open_one["kind"], settled["kind"]) == ("fail", "pass")
    assert settled["properties"]["state"] == "resolved"


def test_the_same_failure_has_the_same_fingerprint_and_counts_its_runs() -> None:
    one, two, other = results(
        entry(seen_again=(Sighting(run_id="r9", date="d"),), seen_before=3), entry("r2"), entry("r3", goal="h")
    )
    prints = [found["partialFingerprints"]["kotef/v1"] for found in (one, two, other)]
    assert prints[0] == prints[1] != prints[2]
    assert one["occurrenceCount"] == 5


@pytest.mark.parametrize(
    ("summary", "where"),
    [
        ("/usr/lib/x.py:3: boom\nsrc/a b.py:4: boom", ("b.py", 4)),
        ("../outside.py:3: boom", ("tests/test_x.py", None)),
        ("/abs/x.py:3: boom", ("tests/test_x.py", None)),
        ("x.py:0: boom", ("tests/test_x.py", None)),
        ("src/caf\u00e9.py:3: boom", ("src/caf%C3%A9.py", 3)),
        ("no place at all", ("tests/test_x.py", None)),
    ],
)
def test_only_places_inside_the_workspace_are_locations(summary: str, where: tuple[str, int | None]) -> None:
    (found,) = results(entry(entries=(failure(summary),)))
    (location,) = found["locations"]
    place = location["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place.get("region", {}).get("startLine")) == where


def test_without_any_place_there_is_no_location() -> None:
    (found,) = results(entry(entries=(), outcome="environment_broken", reason="no_checks"))
    assert "locations" not in found
    assert found["ruleId"] == "environment_broken/no_checks"
    assert "locations" not in results(entry(entries=(failure("boom", tests=("TestAdd",)),)))[0]


def test_the_markdown_has_what_a_reader_elsewhere_needs() -> None:
    text = to_github(entry(ticket="07", sentence="all spent", files_changed=("a.py",), last_command="pytest -q"))
    assert text.startswith(
        "kotef could not finish this ticket `07`: `make it add`\n\n**Next**: inspect `test_y`: boom\n"
    )
    for fact in (
        "- **Why**: all spent",
        "- **Attempts**: 3 of 3",
        "- **Files changed**: `a.py`",
        "  - `tests/test_x.py::test_y`",
    ):
        assert fact in text.splitlines()
    assert text.endswith("\n")


def test_outside_text_mentions_nobody_refers_to_nothing_and_starts_no_markup() -> None:
    hostile = "@octocat fixes #12 owner/repo#3 <img src=x> [a](http://x) `@code` \x1b[2J\n## Heading\n- item"
    text = to_github(
        entry(
            goal=hostile,
            sentence=hostile,
            follow_up=hostile,
            ticket=hostile,
            entries=(failure(hostile, command=hostile),),
        )
    )
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert not re.search(r"[@#]\w", outside)
    assert "<img" not in outside
    assert "](" not in outside
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if line.startswith("#")] == ["### Last failures, newest last"]
    assert "@<!-- -->octocat fixes #<!-- -->12" in outside


def test_the_title_is_one_line() -> None:
    assert title(entry(ticket="07")) == "ticket 07: make it add (stuck)"
    assert title(entry(goal="a\nb" + "x" * 300)).isprintable()
    assert title(entry(goal="", checks=("make test",))) == "make test (stuck)"
