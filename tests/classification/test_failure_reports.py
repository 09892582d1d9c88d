"""JSON, XML and messages for CI services are read for what they say; half a document, or a hostile one, is plain text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.classification import classify
from kotef.classification.machine_reports import report_of, unwrapped

COMPLAINTS: dict[str, tuple[str, Any, str]] = {
    "ruff": (
        "ruff check --output-format json",
        [{"code": "F401", "filename": "/w/app/jobs.py", "location": {"row": 3, "column": 8}, "message": "`os` imported but unused",
          "fix": {"message": "Remove unused import", "edits": [{"location": {"row": 3}}]}}],
        "/w/app/jobs.py:3: `os` imported but unused [F401]",
    ),
    "eslint": (
        "eslint -f json src",
        [{"filePath": "/w/src/ok.js", "messages": []},
         {"filePath": "/w/src/a.js", "messages": [{"ruleId": "no-var", "severity": 2, "message": "Unexpected var.", "line": 7}]}],
        "/w/src/a.js:7: Unexpected var. [no-var]",
    ),
    "mypy": (
        "mypy --output json app",
        {"file": "app/a.py", "line": 8, "column": 4, "message": "Incompatible return value", "hint": None, "code": "return-value", "severity": "error"},
        "app/a.py:8: error: Incompatible return value [return-value]",
    ),
    "pyright": (
        "pyright --outputjson",
        {"version": "1", "generalDiagnostics": [{"file": "/w/a.py", "severity": "error", "message": '"x" is not defined',
         "range": {"start": {"line": 11, "character": 2}}, "rule": "reportUndefinedVariable"}], "summary": {"errorCount": 1}},
        '/w/a.py:12: error: "x" is not defined [reportUndefinedVariable]',
    ),
    "gcc": (
        "gcc -fdiagnostics-format=json -c a.c",
        [{"kind": "error", "message": "'volume' undeclared", "children": [], "locations": [{"caret": {"file": "a.c", "line": 5, "column": 9}}]}],
        "a.c:5: error: 'volume' undeclared",
    ),
    "shellcheck": (
        "shellcheck -f json x.sh",
        [{"file": "x.sh", "line": 2, "endLine": 2, "level": "warning", "code": 2046, "message": "Quote this"}],
        "x.sh:2: warning: Quote this [SC2046]",
    ),
    "SARIF": (
        "semgrep --sarif",
        {"runs": [{"results": [{"ruleId": "eval-use", "level": "error", "message": {"text": "eval is used"},
         "locations": [{"physicalLocation": {"artifactLocation": {"uri": "app/a.py"}, "region": {"startLine": 4}}}]}]}]},
        "app/a.py:4: error: eval is used [eval-use]",
    ),
    "rubocop": (
        "rubocop -f json",
        {"files": [{"path": "a.rb", "offenses": [{"severity": "convention", "message": "Prefer single quotes.", "cop_name": "Style/StringLiterals",
         "location": {"start_line": 9, "line": 9}}]}]},
        "a.rb:9: Prefer single quotes. [Style/StringLiterals]",
    ),
}  # fmt: skip

TESTS: dict[str, tuple[str, Any, str, str]] = {
    "jest": (
        "jest --json",
        {"success": False, "numFailedTests": 1, "testResults": [{"name": "/w/q.test.js", "status": "failed", "message": "", "assertionResults": [
            {"fullName": "Queue is ordered", "status": "passed", "failureMessages": []},
            {"fullName": "Queue plays", "status": "failed", "failureMessages": ["Error: expect(received).toBe(expected)\n\nExpected: 1\nReceived: 2\n    at Object.<anonymous> (/w/q.test.js:6:22)"]}]}]},
        "Queue plays", "/w/q.test.js:6",
    ),
    "mocha": (
        "mocha -R json",
        {"stats": {"failures": 1}, "passes": [{"fullTitle": "player stays", "err": {}}],
         "failures": [{"fullTitle": "player pauses", "err": {"message": "expected true to be false", "stack": "AssertionError: expected true to be false\n    at Context.<anonymous> (test/player.js:7:3)"}}]},
        "player pauses", "test/player.js:7",
    ),
    "rspec": (
        "rspec --format json",
        {"examples": [{"full_description": "Cart sums prices", "status": "failed", "file_path": "./spec/cart_spec.rb", "line_number": 4,
         "exception": {"class": "RSpec::Expectations::ExpectationNotMetError", "message": "\nexpected: 3\n     got: 4\n", "backtrace": ["./spec/cart_spec.rb:7:in `block'"]}}],
         "summary_line": "1 example, 1 failure"},
        "Cart sums prices", "spec/cart_spec.rb:7",
    ),
}  # fmt: skip


@pytest.mark.parametrize("tool", COMPLAINTS)
def test_a_complaint_in_json_is_told_with_its_place_and_rule(tool: str) -> None:
    command, document, told = COMPLAINTS[tool]
    diagnosis = classify(command, 1, json.dumps(document), "")

    assert diagnosis.kind == "lint_failure"
    assert diagnosis.summary.splitlines()[0] == told


@pytest.mark.parametrize("tool", COMPLAINTS)
def test_the_same_complaint_on_another_line_has_one_fingerprint(tool: str) -> None:
    command, document, _ = COMPLAINTS[tool]
    text = json.dumps(document)
    moved = text
    for line in (2, 3, 4, 5, 7, 8, 9, 11):
        for key in ("line", "row", "startLine", "start_line", "endLine"):
            moved = moved.replace(f'"{key}": {line},', f'"{key}": {line + 40},').replace(
                f'"{key}": {line}}}', f'"{key}": {line + 40}}}'
            )

    assert moved != text
    assert classify(command, 1, moved, "").fingerprint == classify(command, 1, text, "").fingerprint


@pytest.mark.parametrize("tool", TESTS)
def test_a_failing_test_in_json_is_told_with_its_error_and_place(tool: str) -> None:
    command, document, name, place = TESTS[tool]
    diagnosis = classify(command, 1, json.dumps(document), "")

    assert diagnosis.kind == "test_failure"
    assert diagnosis.tests == (name,)
    assert place in diagnosis.summary
    assert "expected" in diagnosis.summary.lower()


def test_a_document_under_a_headline_of_a_wrapper_is_read() -> None:
    command, document, told = COMPLAINTS["eslint"]
    out = f"\n> app@1.0.0 lint\n> {command}\n\n{json.dumps(document)}\n"

    assert told in classify("npm run lint", 1, out, "npm error code 1\n").summary


def test_one_document_a_line_is_read() -> None:
    _, document, told = COMPLAINTS["mypy"]
    lines = "\n".join(json.dumps({**document, "line": line}) for line in (8, 9, 10))

    assert len(report_of(lines).diagnostics) == 3
    assert classify("mypy --output json app", 1, lines, "").summary.startswith(told)


def test_go_and_cargo_wrap_their_plain_output_in_json() -> None:
    go = [
        {"Action": "run", "Test": "TestArea"},
        {"Action": "output", "Test": "TestArea", "Output": "--- FAIL: TestArea (0.00s)\n"},
        {"Action": "output", "Test": "TestArea", "Output": "    area_test.go:7: area = 7\n"},
        {"Action": "output", "Output": "FAIL\texample.org/geo\t0.002s\n"},
    ]
    cargo = {
        "reason": "compiler-message",
        "message": {"rendered": "error[E0425]: cannot find value `x`\n --> src/main.rs:2:5\n"},
    }

    diagnosis = classify("go test -json ./...", 1, "\n".join(map(json.dumps, go)), "")
    assert diagnosis.tests == ("TestArea",)
    assert "area_test.go:7" in diagnosis.summary
    assert "error[E0425]: cannot find value `x`\n --> src/main.rs:2:5" in unwrapped(json.dumps(cargo))
    assert "src/main.rs:2" in classify("cargo check --message-format json", 101, json.dumps(cargo), "").summary


JUNIT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" errors="0" failures="1" tests="2">
<testcase classname="tests.test_cart" name="test_ok" time="0.001" />
<testcase classname="tests.test_cart" name="test_total" time="0.001"><failure message="assert 5 &lt; 4">tests/test_cart.py:15: in test_total
E   assert 5 &lt; 4</failure></testcase></testsuite></testsuites>
"""


def test_junit_xml_is_read_with_its_entities() -> None:
    diagnosis = classify("./run-tests", 1, JUNIT, "")

    assert diagnosis.kind == "test_failure"
    assert diagnosis.tests == ("tests.test_cart.test_total",)
    assert "assert 5 < 4" in diagnosis.summary
    assert "tests/test_cart.py:15" in diagnosis.summary


def test_a_linter_that_writes_junit_is_still_a_linter() -> None:
    out = '<testsuite name="/w/src/list.js"><testcase classname="/w/src/list" name="org.eslint.no-var"><failure message="Unexpected var."><![CDATA[line 7, col 3, Error - Unexpected var. (no-var)]]></failure></testcase></testsuite>'
    diagnosis = classify("eslint -f junit src", 1, out, "")

    assert diagnosis.kind == "lint_failure"
    assert diagnosis.summary.startswith("/w/src/list.js:7: Unexpected var.")


def test_checkstyle_xml_is_read() -> None:
    out = '<checkstyle version="4.3"><file name="x.sh"><error line="2" column="10" severity="warning" message="Quote this" source="ShellCheck.SC2046"/></file></checkstyle>'

    assert classify("shellcheck -f checkstyle x.sh", 1, out, "").summary == "x.sh:2: warning: Quote this [SC2046]"


def test_an_annotation_for_a_ci_service_is_a_complaint() -> None:
    out = "::error title=ruff (F401),file=/w/app/jobs.py,line=3,col=8,endLine=3::app/jobs.py:3:8: F401 `os` imported but unused\n"

    assert classify("ruff check --output-format github", 1, out, "").summary.startswith("/w/app/jobs.py:3: ")


def test_a_program_that_prints_json_about_a_failure_is_no_test_runner() -> None:
    out = json.dumps({"status": "failed", "step": "upload", "reason": "bucket is full"})

    assert classify("./publish", 1, out, "").kind == "unknown"


def test_a_success_in_json_is_a_pass() -> None:
    assert classify("ruff check --output-format json", 0, "[]", "").kind is None
    passed = {
        "success": True,
        "testResults": [
            {
                "name": "a.test.js",
                "status": "passed",
                "assertionResults": [{"fullName": "error is told", "status": "passed"}],
            }
        ],
    }
    assert classify("jest --json", 0, json.dumps(passed), "").kind is None


def test_a_failure_in_json_contradicts_an_exit_status_of_0() -> None:
    command, document, _, _ = TESTS["jest"]

    assert classify(f"{command} | cat", 0, json.dumps(document), "").kind == "test_failure"


@pytest.mark.parametrize(
    "hostile",
    [
        '[{"a":' * 5000,
        '{"filename":' * 100_000,
        '[{"filename":1,"message":[],"code":{},"location":"x"}]',
        '[{"file":{"text":null},"line":true,"message":"m","code":0}]',
        '{"status":"failed","name":"x","err":5,"exception":[[[]]]}',
        "<testcase name='x'><failure message=" + '"' * 50_000,
        "<testcase " * 50_000,
        "<checkstyle><file><error line='&#xFFFFFFFF;' message='&undefined;'/>",
        '<!DOCTYPE x [<!ENTITY a "&b;&b;">]><testcase name="&a;"><failure/></testcase>',
        '{"Action": "output", "Output": 5}\n{"Action":',
    ],
)
def test_a_hostile_document_is_classified_like_any_text(hostile: str) -> None:
    for command in ("pytest", "eslint -f json", "./x"):
        diagnosis = classify(command, 1, hostile, hostile)

        assert diagnosis.kind is not None
        assert diagnosis.summary


KEYS = st.sampled_from(
    [
        "file",
        "line",
        "message",
        "code",
        "severity",
        "location",
        "status",
        "fullName",
        "err",
        "name",
        "rule",
        "range",
        "start",
        "tests",
    ]
)
VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-5, 5), st.text(max_size=8), st.sampled_from(["failed", "error", "a.py"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=25,
)


@given(document=VALUES)
@example_count(150)
def test_no_document_raises(document: Any) -> None:
    text = json.dumps(document)

    assert classify("eslint -f json", 1, text, "").kind is not None
    report_of(text)


def test_a_level_in_brackets_above_the_document_does_not_hide_it() -> None:
    command, document, told = COMPLAINTS["shellcheck"]
    out = f"[INFO] linting\n[1/2] scripts\n{json.dumps(document, indent=2)}\n"

    assert told in classify(command, 1, out, "").summary
