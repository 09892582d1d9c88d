"""`kotef issues` lists, shows, settles and exports; what cannot be done is one line and exit status 2 or 5."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.loop import Ran, kotef

from kotef.cli.main import main
from kotef.runs.store import runs_dir
from kotef.sdd.issue_log import IssueEntry, IssueFailure, parse_issues, record

FAILURE = IssueFailure(
    visit=1, command="pytest", exit_code=1, kind="test_failure", summary="src/a.py:3: boom", fingerprint="f"
)


def entry(run_id: str, **facts) -> IssueEntry:
    known = {
        "run_id": run_id, "date": f"2026-01-0{run_id[-1]}", "outcome": "stuck", "reason": "stuck", "goal": f"goal {run_id}",
        "attempts": 3, "max_attempts": 3, "run_dir": f".sdd/runs/{run_id}", "follow_up": "look at `a`", "entries": (FAILURE,),
    }  # fmt: skip
    return IssueEntry(**(known | facts))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    log = tmp_path / ".sdd" / "issues.md"
    record(log, entry("aa-1", ticket="07"))
    record(log, entry("ab-2"))
    record(log, entry("ac-3", goal="goal ab-2"))
    return tmp_path


def issues(root: Path, *arguments: str) -> Ran:
    return kotef(root, "issues", *arguments)


def states(root: Path) -> dict[str, str]:
    return {each.run_id: each.state for each in parse_issues((root / ".sdd" / "issues.md").read_text()).entries}


def test_alone_it_lists_as_the_subcommand_does(root: Path) -> None:
    listed = issues(root)
    assert listed.code == 0
    assert listed.stdout == issues(root, "list").stdout
    assert listed.stdout.splitlines() == [
        "aa-1  open      ticket 07: goal aa-1 (stuck)",
        "    3 of 3 attempts; look at `a`",
        "ab-2  open      goal ab-2 (stuck)",
        "    3 of 3 attempts, seen 2 times; look at `a`",
    ]
    assert issues(root, "--json").stdout == issues(root, "list", "--json").stdout
    assert issues(root, "--state", "resolved").stdout == "no resolved entries; 2 are not resolved\n"


def test_without_an_id_the_newest_entry_is_shown(root: Path, tmp_path: Path) -> None:
    assert issues(root, "show").stdout == issues(root, "show", "ab-2").stdout
    (tmp_path / ".sdd" / "issues.md").unlink()
    ran = issues(root, "show")
    assert (ran.code, ran.stderr.count("\n")) == (2, 1)
    assert "no entries" in ran.stderr


def test_a_log_that_is_not_there_is_an_empty_list(tmp_path: Path) -> None:
    assert issues(tmp_path).stdout.startswith("no entries: ")
    assert json.loads(issues(tmp_path, "list", "--json").stdout) == []
    assert json.loads(issues(tmp_path, "list", "--format", "sarif").stdout)["runs"][0]["results"] == []
    assert not (tmp_path / ".sdd").exists(), "looking writes nothing"


def test_what_it_says_of_the_runs_without_an_entry_is_true(tmp_path: Path) -> None:
    assert issues(tmp_path).stdout == "no entries: nothing has been run here yet\n"
    (runs_dir(tmp_path) / "20260131-101500-3fa2").mkdir(parents=True)
    said = "1 run here has not ended: killed, or still at work; `kotef runs` lists it"
    assert issues(tmp_path).stdout == f"no entry; {said}\n"
    record(tmp_path / ".sdd" / "issues.md", entry("aa-1"))
    assert issues(tmp_path).stdout.splitlines()[-1] == f"note: {said}"


def test_the_help_of_what_prints_an_array_says_so() -> None:
    for command in (["issues", "list"], ["issues"], ["runs"]):
        assert "one JSON array" in " ".join(CliRunner().invoke(main, [*command, "--help"]).output.split())


def test_state_selects_for_people_scripts_and_sarif(root: Path) -> None:
    issues(root, "resolve", "aa-1")
    for state, runs in (("open", ["ab-2"]), ("resolved", ["aa-1"]), ("all", ["aa-1", "ab-2"])):
        listed = json.loads(issues(root, "list", "--state", state, "--json").stdout)
        assert [each["runId"] for each in listed] == runs
        sarif = json.loads(issues(root, "list", "--state", state, "--format", "sarif").stdout)
        assert [each["properties"]["runId"] for each in sarif["runs"][0]["results"]] == runs


def test_show_prints_the_entry_of_a_run_or_of_one_that_ended_the_same(root: Path) -> None:
    shown = issues(root, "show", "ab-2").stdout
    assert "- **Seen again**: `ac-3`, 2026-01-03" in shown.splitlines()
    assert "kotef:end" not in shown
    log = root / ".sdd" / "issues.md"
    log.write_text(log.read_text().replace("- **Goal**: goal aa-1", "- **Goal**: goal aa-1\n- ask the author"))
    assert "- ask the author" in issues(root, "show", "aa-1").stdout, "what people wrote into it is shown"
    assert issues(root, "show", "ac").stdout == shown
    stored = json.loads(issues(root, "show", "aa", "--json").stdout)
    assert (stored["runId"], stored["title"]) == ("aa-1", "ticket 07: goal aa-1 (stuck)")
    body = issues(root, "show", "aa", "--format", "github").stdout
    assert body.startswith("kotef could not finish this ticket `07`: `goal aa-1`\n")
    assert "<!-- kotef" not in body


def test_resolve_and_reopen_say_what_they_did_and_may_be_repeated(root: Path) -> None:
    assert issues(root, "resolve", "ac-3").stdout == "issue ab-2 is resolved: goal ab-2 (stuck)\n"
    assert states(root) == {"aa-1": "open", "ab-2": "resolved"}
    assert issues(root, "resolve", "ab-2").stdout == "issue ab-2 was resolved already: goal ab-2 (stuck)\n"
    again = json.loads(issues(root, "reopen", "ab-2", "--json").stdout)
    assert (again["state"], again["resolvedBy"]) == ("open", "")
    assert states(root) == {"aa-1": "open", "ab-2": "open"}


@pytest.mark.parametrize("command", ["show", "resolve", "reopen"])
def test_an_unknown_or_ambiguous_id_names_the_candidates(root: Path, command: str) -> None:
    before = (root / ".sdd" / "issues.md").read_bytes()
    unknown, ambiguous = issues(root, command, "zz"), issues(root, command, "a")
    assert (unknown.code, ambiguous.code) == (2, 2)
    assert unknown.stderr == "kotef: error: no issue 'zz' (the issues are ab-2, aa-1)\n"
    assert ambiguous.stderr == "kotef: error: 'a' is ambiguous: ab-2, aa-1 (use a longer prefix of the id)\n"
    assert unknown.stdout == ""
    assert (root / ".sdd" / "issues.md").read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("close", "aa-1"), ("resolve",), ("list", "--state", "shut"), ("list", "--format", "github"), ("show", "aa-1", "--format", "sarif"),
        ("list", "--json", "--format", "sarif"), ("--json", "show", "aa-1"),
    ],
)  # fmt: skip
def test_a_command_line_that_means_nothing_is_one_line_and_status_2(root: Path, arguments: tuple[str, ...]) -> None:
    ran = issues(root, *arguments)
    assert ran.code == 2
    assert len(ran.stderr.splitlines()) == 1
    assert ran.stderr.startswith("kotef: error: ")


def test_a_log_that_cannot_be_read_or_written_is_status_5(root: Path) -> None:
    log = root / ".sdd" / "issues.md"
    log.chmod(0o444)
    assert issues(root, "list").code == 0
    refused = issues(root, "resolve", "aa-1")
    assert (refused.code, "is read-only" in refused.stderr) == (5, True)
    log.unlink()
    log.mkdir()
    for arguments in (("list",), ("list", "--json"), ("show", "aa-1"), ("resolve", "aa-1")):
        ran = issues(root, *arguments)
        assert ran.code == 5
        assert json.loads(ran.stdout)["reason"] == "workspace" if "--json" in arguments else ran.stdout == ""
        assert "is a directory" in ran.stderr or "not a regular file" in ran.stderr


def test_what_is_wrong_with_the_log_is_said_and_hides_no_entry(root: Path) -> None:
    log = root / ".sdd" / "issues.md"
    log.write_text(f"<<<<<<< HEAD\n{log.read_text()}=======\n>>>>>>> other\n")
    listed = issues(root, "list")
    assert "note: .sdd/issues.md:1: a merge conflict is here" in listed.stdout
    assert "aa-1" in listed.stdout
    scripted = issues(root, "list", "--json")
    assert len(json.loads(scripted.stdout)) == 2
    assert scripted.stderr.startswith("kotef: warning: .sdd/issues.md:1: ")


def test_hostile_text_of_an_entry_reaches_no_terminal(root: Path) -> None:
    record(
        root / ".sdd" / "issues.md",
        entry("ad-4", goal="\x1b[2J\u202egone", ticket="\x1b]8;;x\x07", follow_up="\x1b[31mred"),
    )
    for arguments in ((), ("show", "ad-4"), ("show", "ad-4", "--format", "github"), ("resolve", "ad-4")):
        ran = issues(root, *arguments)
        assert ran.code == 0
        assert not {"\x1b", "\u202e", "\x07"} & set(ran.stdout)
