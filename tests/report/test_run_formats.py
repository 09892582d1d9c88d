"""A run told to other tools: from its directory alone, each thing that fails at its file and line."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.example_count import example_count
from support.sarif import SARIF

from kotef.checks.verification import CheckVerdict, Verification
from kotef.errors import UsageError
from kotef.redaction import keys_in
from kotef.report.failure_locations import located
from kotef.report.formats import FORMATS
from kotef.report.pull_request import pull_request_text
from kotef.report.step_summary import step_summary_text
from kotef.runs.ending_text import title
from kotef.runs.result import Result
from kotef.runs.store import RunDir, at

FORMATTED = "2026-01-02T03:04:05Z"
OUTPUT = """\
=================================== FAILURES ===================================
___________________________________ test_add ___________________________________

    def test_add():
>       assert add(2, 3) == 5
E       assert -1 == 5

tests/test_calc.py:8: AssertionError
=========================== short test summary info ============================
FAILED tests/test_calc.py::test_add - assert -1 == 5
1 failed, 2 passed in 0.01s
"""


def result_of(**facts: Any) -> Result:
    known = {
        "kotef_version": "0", "run_id": "r1", "outcome": "bounded_attempts_exceeded", "sentence": "3 attempts are spent",
        "reason": "bounded_attempts_exceeded", "done": False, "exit_code": 3, "goal": "make it add", "ticket": None,
        "coder": "model", "model": "m", "profile": "strict", "max_attempts": 3, "visits": 1, "tree_visit": 1,
        "failure_history": {"attempts": 3, "last_error_kinds": (), "last_commands": (), "entries": ()},
        "usage": {
            "tokens_in": 0, "tokens_out": 0, "tokens_cached": 0, "cost": None, "calls": 0, "commands": 0, "seconds": 1.5,
            "estimated": False,
        },
        "started_at": FORMATTED, "finished_at": FORMATTED,
    }  # fmt: skip
    return Result.model_validate({**known, **facts})


def check(**facts: Any) -> CheckVerdict:
    known = {
        "name": "pytest", "command": "pytest -q", "role": "test", "required": True, "exit_code": 1, "passed": False,
        "satisfied": False, "advisory": False, "kind": "test_failure", "detail": "assertion", "summary": "it failed",
        "log": "logs/x.log", "red": ("tests/test_calc.py::test_add",), "evidence": "report",
    }  # fmt: skip
    return CheckVerdict(**{**known, **facts})


def judged(*checks: CheckVerdict, **facts: Any) -> Verification:
    return Verification(**{"visit": 1, "tree": "t", "passed": False, "checks": checks, **facts})


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    made = at(tmp_path, "r1")
    made.create()
    (made.path / "logs" / "x.log").write_text(OUTPUT)
    return made


def written(run: RunDir, verification: Verification | None = None, **facts: Any) -> Result:
    result = result_of(**facts)
    run.write_result(result)
    if verification is not None:
        (run.path / f"visit-{verification.visit}.json").write_text(verification.model_dump_json())
    return result


def sarif(run: RunDir) -> dict[str, Any]:
    log = json.loads(FORMATS["sarif"](run))
    jsonschema.Draft202012Validator(SARIF).validate(log)
    return log["runs"][0]


def junit(run: RunDir) -> ET.Element:
    """Parsed and held to what readers of JUnit XML rely on."""
    root = ET.fromstring(FORMATS["junit"](run))
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite"
        cases = list(suite)
        assert all(case.tag == "testcase" and case.get("name") and case.get("classname") for case in cases)
        assert all(len(list(case)) <= 1 for case in cases)
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(name, "")) == sum(case.find(tag) is not None for case in cases)
        assert int(suite.get("tests", "")) == len(cases)
    assert int(root.get("tests", "")) == len(list(root.iter("testcase")))
    return root


def test_a_failing_test_is_told_with_its_message_its_file_and_its_line(run: RunDir) -> None:
    result = written(run, judged(check(), tests={"tests/test_calc.py::test_add": "failed"}))
    (found,) = located(run, result)
    assert (found.test, found.message) == ("tests/test_calc.py::test_add", "assert -1 == 5")
    assert (found.file, found.line, found.blocks) == ("tests/test_calc.py", 8, True)
    (told,) = sarif(run)["results"]
    assert (told["ruleId"], told["level"]) == ("test_failure/assertion", "error")
    assert told["locations"][0]["physicalLocation"]["region"] == {"startLine": 8}


def test_the_file_of_a_test_that_two_checks_share_is_the_file_alone(run: RunDir) -> None:
    shared = {
        f"{name}: tests/test_calc.py::test_add": status for name, status in (("a: b", "failed"), ("all", "passed"))
    }
    written(run, judged(check(name="a: b"), check(name="all"), tests=shared, missing=("all: t/test_x.py::gone",)))
    cases = junit(run).findall("testsuite[@name='tests']/testcase")
    assert [(case.get("classname"), case.get("file"), case.get("name")) for case in cases] == [
        ("tests/test_calc.py", "tests/test_calc.py", "a: b: test_add"),
        ("tests/test_calc.py", "tests/test_calc.py", "all: test_add"),
        ("t/test_x.py", None, "all: gone"),
    ]


def test_a_complaint_of_a_linter_is_told_where_it_is(run: RunDir) -> None:
    (run.path / "logs" / "lint.log").write_text("src/a.py:3:5: F401 `os` imported but unused\nFound 1 error.\n")
    lint = check(
        name="ruff", command="ruff check .", role="lint", kind="lint_failure", detail="", red=(), log="logs/lint.log"
    )
    (found,) = located(run, written(run, judged(lint)))
    assert (found.file, found.line, found.title) == ("src/a.py", 3, "ruff")


def test_what_was_red_before_and_not_asked_for_is_a_warning_and_comes_last(run: RunDir) -> None:
    old, new = "tests/test_a.py::test_old", "tests/test_calc.py::test_add"
    verification = judged(
        check(red=(old, new)), tests={old: "failed", new: "failed"}, preexisting=(old,), broken=(new,)
    )
    found = located(run, written(run, verification))
    assert [(one.test, one.blocks) for one in found] == [(new, True), (old, False)]
    assert [one["level"] for one in sarif(run)["results"]] == ["error", "warning"]
    assert junit(run).find(".//testcase[@name='test_old']/skipped") is not None


def test_missing_and_newly_skipped_tests_are_told_too(run: RunDir) -> None:
    green = check(passed=True, satisfied=True, red=(), exit_code=0, kind=None)
    verification = judged(green, missing=("pytest: tests/test_a.py::test_gone",), newly_skipped=("tests/b.py::t",))
    found = located(run, written(run, verification))
    assert [(one.file, one.line) for one in found] == [("tests/test_a.py", None), ("tests/b.py", None)]
    assert "no longer runs" in found[0].message


def test_without_a_verification_the_run_itself_is_what_failed(run: RunDir) -> None:
    result = written(run, None, outcome="environment_broken", reason="no_sandbox", exit_code=5, sentence="no sandbox")
    (found,) = located(run, result)
    assert (found.message, found.file, found.rule) == ("no sandbox", "", "environment_broken/no_sandbox")
    (told,) = sarif(run)["results"]
    assert "locations" not in told
    assert [suite.get("name") for suite in junit(run)] == ["kotef"]


def test_a_visit_that_was_not_judged_is_told_by_the_one_before(run: RunDir) -> None:
    result = written(run, judged(check(), visit=0), tree_visit=2)
    assert located(run, result)[0].line == 8


def test_a_verified_run_has_nothing_that_fails(run: RunDir) -> None:
    green = check(passed=True, satisfied=True, red=(), exit_code=0, kind=None)
    verification = judged(green, passed=True, tests={"tests/test_calc.py::test_add": "passed", "t::skip": "skipped"})
    result = written(run, verification, outcome="verified", reason="verified", done=True, exit_code=0)
    assert located(run, result) == ()
    whole = sarif(run)
    assert (whole["results"], whole["invocations"][0]["executionSuccessful"]) == ([], True)
    root = junit(run)
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("4", "0", "1")


def test_a_place_outside_of_the_workspace_is_no_place(run: RunDir) -> None:
    (run.path / "logs" / "x.log").write_text(OUTPUT.replace("tests/test_calc.py:8", "../../etc/passwd.py:8"))
    (found,) = located(run, written(run, judged(check(red=("test_add",)))))
    assert (found.file, found.line) == ("", None)


def test_the_same_failure_has_the_same_fingerprint_in_another_run(run: RunDir) -> None:
    written(run, judged(check()))
    first = sarif(run)["results"][0]["partialFingerprints"]
    (run.path / "logs" / "x.log").write_text("\n" + OUTPUT.replace("calc.py:8", "calc.py:9").replace("-1 ==", "-2 =="))
    assert sarif(run)["results"][0]["partialFingerprints"] == first
    written(run, judged(check(red=("tests/test_calc.py::other",))))
    assert sarif(run)["results"][0]["partialFingerprints"] != first


@example_count(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(max_size=80), text=st.text(max_size=400))
def test_whatever_tests_are_called_and_print_every_format_stays_valid(run: RunDir, name: str, text: str) -> None:
    (run.path / "logs" / "x.log").write_bytes(text.encode("utf-8", "surrogatepass"))
    verification = judged(check(red=(name,), summary=text[:400]), tests={name: "failed"})
    result = written(run, verification, goal=text, sentence=text)
    sarif(run)
    junit(run)
    assert located(run, result)
    for told in (pull_request_text(result), step_summary_text(result, located(run, result))):
        assert not [line for line in told.splitlines() if line.lstrip().startswith(("::", "<"))]


def test_pull_request_and_summary_end_as_the_screen_does_and_say_what_is_next() -> None:
    done = result_of(outcome="verified", done=True, sentence="1 of 1 checks satisfied", winner="search")
    assert title(done) != done.sentence
    assert title(done) in step_summary_text(done, ())
    short = result_of(
        outcome="stuck", done=False, sentence="nothing was found", next_step="let a model try (`--model`)"
    )
    for text in (pull_request_text(short), step_summary_text(short, ())):
        assert title(short) in text
        assert "let a model try (`--model`)" in text


def test_text_from_outside_is_inert_in_markdown() -> None:
    bad = "@team <img src=x> [a](http://evil) closes #12 | `x`"
    told = pull_request_text(result_of(goal=bad, sentence=bad, changed=("a|`b`.py",)))
    told += step_summary_text(result_of(goal=bad, sentence=bad), ())
    assert "@team" not in told
    assert "<img" not in told
    assert "](http" not in told
    assert "#12" not in told


def test_text_from_outside_is_still_read_as_it_was_written() -> None:
    told = pull_request_text(result_of(goal="[a](b) &commat;team ![i](http://x/issues/1) `![c](d)`"))
    assert "[a]&lpar;b) &amp;commat;team ![i]&lpar;http:<!-- -->//x/issues/1) `![c](d)`" in told


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("AWS = 'AKIAQ3EGRZ5WN7H2XK4V'", "an AWS access key"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "a private key"),
        ("t = 'ghp_" + "a1B2" * 9 + "'", "a GitHub token"),
        ("key: sk-proj-" + "a1b2c3D4" * 5, "a key for a model endpoint"),
        ("postgres://app:kJ7.hq-2pQz91@db/x", "a password in a URL"),
    ],
)
def test_a_key_is_known_by_its_form(line: str, what: str) -> None:
    assert [found.what for found in keys_in(["fine", line])] == [what]
    assert [found.line for found in keys_in(["fine", line])] == [1]


@pytest.mark.parametrize(
    "line",
    [
        "url = 'postgres://user:password@localhost/db'",
        "class sk-learn-like-names-are-fine-too-whatever-they",
        "git@github.com:a/b.git",
        "AKIA",
        "-----BEGIN CERTIFICATE-----",
    ],
)
def test_what_only_looks_like_one_is_none(line: str) -> None:
    assert list(keys_in([line])) == []


@pytest.mark.parametrize(
    ("begun", "hint"), [(True, "`kotef resume 20260131-0"), (False, "it crashed before it started")]
)
def test_a_run_without_a_result_says_how_to_go_on(tmp_path: Path, begun: bool, hint: str) -> None:
    died = at(tmp_path, "20260131-0")
    died.create()
    if begun:
        (died.path / "task.json").write_text("{}")
    for form in ("sarif", "junit", "json", "md"):
        with pytest.raises(UsageError, match=hint):
            FORMATS[form](died)
