"""Outputs of tools that are in no table are understood by their form, and by what the command was for."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.classification import classify

PLACES = (
    "{path}:{line}: {text}",
    "{path}:{line}:7: {text}",
    "{path}:{line}:7 {text}",
    "{path}({line}): {text}",
    "{path}({line},7): {text}",
    '"{path}", line {line}: {text}',
    "{path}: line {line}: {text}",
    "{path}:[{line},7] {text}",
    "[{path}:{line}] - {text}",
    "ERROR: {text} [{path}:{line}]",
    "{text} at {path}:{line}",
)
"""How a remark and its place are written; `{text}` is the remark."""
BOXED = (
    "error: {text}\n  --> {path}:{line}:7\n   |\n{line} | x = y\n   |     ^\n",
    "error: {text}\n  ┌─ {path}:{line}:7\n  │\n{line} │ x = y\n  │     ^\n",
    "error: {text}\n   ╭─[{path}:{line}:7]\n {line} │ x = y\n   ╰────\n",
)
TOOLS = ("frobnicate", "zorblint src", "quuxcheck .", "gizmo lint", "npx whatsit --strict", "blargc main.blarg")
TEXTS = ("unused variable `x`", "E101 indentation contains mixed spaces", "expected ';' before '}'")
PATHS = ("src/shop/cart.zz", "main.blarg", "lib/a-b/c_d.e2")


@pytest.mark.parametrize(("form", "tool"), list(product((*PLACES, *BOXED), TOOLS)))
def test_a_remark_with_a_place_is_a_complaint_whatever_the_tool(form: str, tool: str) -> None:
    for text, path in product(TEXTS, PATHS):
        diagnosis = classify(tool, 1, form.format(path=path, line=12, text=text) + "\n", "")

        assert diagnosis.kind == "lint_failure", (form, text, path, diagnosis)
        assert f"{path}:12" in diagnosis.summary, (form, diagnosis.summary)
        assert text in diagnosis.summary, (form, diagnosis.summary)


@pytest.mark.parametrize("tool", ["./release.sh", "python release.py", "./bin/notify"])
def test_a_place_that_a_program_of_the_project_mentions_is_no_complaint(tool: str) -> None:
    text = "starting\nmain.py:14: reviewed by two people\nrelease refused: approval is missing\n"

    assert classify(tool, 1, text, "").kind == "unknown"


WORDS_OF_FAILURE = st.sampled_from(["failed", "failures", "failing", "errors"])
TESTS = st.sampled_from(["tests", "test cases", "specs", "scenarios", "examples"])


@given(bad=st.integers(1, 999), good=st.integers(0, 999), noun=TESTS, word=WORDS_OF_FAILURE)
def test_a_count_of_failing_tests_is_a_failing_test_whatever_the_runner(
    bad: int, good: int, noun: str, word: str
) -> None:
    total = bad + good
    for line in (
        f"{total} {noun}, {good} passed, {bad} {word}",
        f"{noun.capitalize()}: {total}, {word}: {bad}",
        f"Ran {total} {noun}: {bad} {word}",
    ):
        assert classify("./run-suite", 1, f"starting the suite\n{line}\n", "").kind == "test_failure", line


@given(good=st.integers(1, 999), noun=TESTS, word=WORDS_OF_FAILURE)
def test_a_count_of_no_failing_test_is_none(good: int, noun: str, word: str) -> None:
    text = f"{good} {noun}, {good} passed, 0 {word}\nthe changelog is stale\n"

    assert classify("./audit.sh", 1, text, "").kind == "unknown"


REPORTS = {
    "JUnit": '<?xml version="1.0"?>\n<testsuites><testsuite name="s" tests="2"><testcase classname="shop" name="adds"/>'
    '<testcase classname="shop" name="rounds"><failure message="1 &lt; 2 > 3">x</failure></testcase></testsuite></testsuites>\n',
    "SonarQube": '<?xml version="1.0"?>\n<testExecutions version="1"><file path="a.cpp"><testCase name="rounds" duration="1">'
    '<failure message="1 == 2"/></testCase></file></testExecutions>\n',
    "NUnit": '<?xml version="1.0"?>\n<test-run result="Failed"><test-suite result="Failed" name="shop">'
    '<test-case name="adds" result="Passed"/><test-case name="rounds" fullname="shop.rounds" result="Failed"/>'
    "</test-suite></test-run>\n",
    "TRX": '<?xml version="1.0"?>\n<TestRun><Results><UnitTestResult testName="rounds" outcome="Failed"/></Results></TestRun>\n',
    "an XML of its own": '<?xml version="1.0"?>\n<Run><TestCase name="rounds"><Expression success="false" filename="a.cpp" '
    'line="3"><Original>1 == 2</Original></Expression><OverallResult success="false"/></TestCase></Run>\n',
    "TeamCity": "##teamcity[testStarted name='rounds']\n##teamcity[testFailed name='rounds' message='1 == 2']\n"
    "##teamcity[testFinished name='rounds']\n",
    "automake": ":test-result: PASS adds\n:test-result: FAIL rounds\n",
    "TAP without numbers": "1..2\nok - adds\nnot ok - rounds\n",
    "Dart": '{"test":{"id":7,"name":"rounds","suiteID":0},"type":"testStart"}\n'
    '{"testID":7,"error":"Expected: <1>","stackTrace":"test/a_test.dart 3:5  main","type":"error"}\n'
    '{"testID":7,"result":"failure","type":"testDone"}\n',
}


@pytest.mark.parametrize("form", REPORTS)
def test_a_report_on_standard_output_names_its_failing_tests(form: str) -> None:
    diagnosis = classify("./suite", 1, REPORTS[form], "")

    assert diagnosis.kind == "test_failure"
    assert any("rounds" in test for test in diagnosis.tests), diagnosis
    assert not any("adds" in test for test in diagnosis.tests)


GREEN = ("....\n4 passed in 0.10s\n", "ok  \texample.com/shop\t0.01s\n", "# tests 3\n# pass 3\n# fail 0\n")
LATER = (
    ("ruff check .", "src/a.py:1:8: F401 `os` imported but unused\nFound 1 error.\n", "lint_failure"),
    (
        "mypy src",
        'src/a.py:3: error: Name "x" is not defined  [name-defined]\nFound 1 error in 1 file\n',
        "lint_failure",
    ),
    ("gofmt -l .", "cart.go\n", "lint_failure"),
    ("upload --to bucket", "error: could not connect to the bucket\n", "tooling_error"),
)


@pytest.mark.parametrize(("green", "later"), list(product(GREEN, LATER)))
def test_a_chain_failed_where_it_stopped(green: str, later: tuple[str, str, str]) -> None:
    command, text, kind = later

    assert classify(f"pytest -q && {command}", 1, f"{green}{text}", "").kind == kind


def test_a_chain_whose_tests_failed_failed_there() -> None:
    diagnosis = classify(
        "pytest -q && ruff check .", 1, "FAILED test_a.py::test_x - assert 1 == 2\n1 failed in 0.1s\n", ""
    )

    assert diagnosis.kind == "test_failure"


SEARCHES = ("grep -rn x src", "rg x", "cat a.log | grep x", "cd src && grep -q x a.py", "git grep x", "ls | grep -i x")


@pytest.mark.parametrize("command", SEARCHES)
def test_a_search_that_finds_nothing_answers(command: str) -> None:
    diagnosis = classify(command, 1, "", "")

    assert (diagnosis.kind, diagnosis.detail) == (None, "no_match")
    assert "no match" in diagnosis.summary


@pytest.mark.parametrize(
    ("command", "code", "stderr"),
    [
        ("grep x missing.txt", 2, "grep: missing.txt: No such file or directory\n"),
        ("grep x missing.txt", 1, "grep: missing.txt: No such file or directory\n"),
        ("cd nowhere && grep x a", 1, "bash: line 1: cd: nowhere: No such file or directory\n"),
        ("make test && grep x report", 1, ""),
        ("./x", 1, ""),
    ],
)
def test_a_search_that_could_not_search_failed(command: str, code: int, stderr: str) -> None:
    assert classify(command, code, "", stderr).kind is not None


@pytest.mark.parametrize("command", ["cargo test", "go test ./...", "zig build test", "make test"])
def test_code_that_does_not_compile_is_no_failing_test(command: str) -> None:
    text = "src/shop.c:3:5: error: expected ';' before 'return'\n"

    assert classify(command, 2, "", text).kind == "lint_failure"


EPILOGUES = (
    "Cleaning up orphan processes\n",
    "##[error]Process completed with exit code 1.\nPost job cleanup.\n",
    "Finished: FAILURE\n",
    "Cleaning up project directory and file based variables\nERROR: Job failed: exit code 1\n",
    'The command "make ship" exited with 1.\n\nDone. Your build exited with 1.\n',
)
REASONS = (
    "fatal: the remote hung up",
    "##[error]the signing key has expired",
    "[ERROR] no release is open",
    "error: gone",
)


@pytest.mark.parametrize(("reason", "epilogue"), list(product(REASONS, EPILOGUES)))
def test_the_error_is_told_and_not_the_epilogue(reason: str, epilogue: str) -> None:
    text = f"shipping\n{reason}\nuploading the log\n{epilogue}"

    assert classify("./ship", 1, text, "").summary.splitlines()[0] == reason


PLAIN_WORDS = {
    "network": ("curl: (22) The requested URL returned error: 404", "the connection was refused by db.example"),
    "no_space": ("cannot write the archive: the disk is full", "there is not enough disk space to go on"),
    "command_not_found": ("The program terraform could not be found", "protoc: executable file not found in $PATH"),
    "out_of_memory": ("worker 3 stopped: insufficient memory",),
}


@pytest.mark.parametrize(
    ("detail", "sentence"), [(detail, each) for detail, row in PLAIN_WORDS.items() for each in row]
)
def test_plain_words_for_what_is_missing_are_heard(detail: str, sentence: str) -> None:
    diagnosis = classify("./provision", 1, f"step 1 of 3\n{sentence}\n", "")

    assert (diagnosis.kind, diagnosis.detail) == ("tooling_error", detail)
    assert sentence in diagnosis.summary


def test_an_exception_group_tells_its_first_exception() -> None:
    text = (
        '  + Exception Group Traceback (most recent call last):\n  |   File "shop.py", line 9, in main\n  |     go()\n'
        "  | ExceptionGroup: two orders failed (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n"
        '    | Traceback (most recent call last):\n    |   File "shop.py", line 4, in order\n    | ValueError: no bolts\n'
        "    +---------------- 2 ----------------\n    | TypeError: no nuts\n    +------------------------------------\n"
    )
    diagnosis = classify("python shop.py", 1, "", text)

    assert diagnosis.kind == "runtime_error"
    assert "two orders failed" in diagnosis.summary
    assert "ValueError: no bolts" in diagnosis.summary
    assert "shop.py:" in diagnosis.summary


@pytest.mark.parametrize("corners", ["╭╮╰╯─│", "┌┐└┘─│", "++++-|"])
def test_a_traceback_in_a_box_is_read(corners: str) -> None:
    left, right, low_left, low_right, bar, side = corners
    text = (
        f"{left}{bar * 9} Traceback (most recent call last) {bar * 9}{right}\n"
        f"{side} shop.py:3 in main                             {side}\n{low_left}{bar * 53}{low_right}\n"
        "ZeroDivisionError: division by zero\n"
    )
    diagnosis = classify("python shop.py", 1, "", text)

    assert (diagnosis.kind, diagnosis.summary) == ("runtime_error", "ZeroDivisionError: division by zero\nat shop.py:3")


STACKS = (
    "exception 'Exception' with message 'no bolts' in shop.php:5\nStack trace:\n#0 shop.php(9): order()\n#1 {main}\n",
    "com.acme.Boom: no bolts\n\tat com.acme.Shop.order(Shop.java:12)\n\tat com.acme.Shop.main(Shop.java:4)\n",
    "no bolts (RangeProblem)\n  lib/shop.rb:12:in `order'\n  lib/shop.rb:4:in `main'\n",
    "Fault: no bolts\n  at order (shop.zz:12)\n  at main (shop.zz:4)\n",
)


@pytest.mark.parametrize("stack", STACKS)
def test_a_stack_below_a_sentence_is_a_crash_in_any_language(stack: str) -> None:
    diagnosis = classify("./shop", 1, "", f"ready\n{stack}")

    assert diagnosis.kind == "runtime_error"
    assert "no bolts" in diagnosis.summary


REFUSALS = (
    "error: registry `inner` does not answer to this name",
    "Error: release has no 3 version",
    "gizmo: Found two jobs that match",
    "ERROR Backend is not available",
    "  × Failed to build the wheel",
)


@pytest.mark.parametrize("sentence", REFUSALS)
def test_an_installed_program_that_marks_an_error_refused(sentence: str) -> None:
    assert classify("gizmo publish", 1, "", f"{sentence}\n").kind == "tooling_error"
    assert classify("./publish", 1, "", f"{sentence}\n").kind == "unknown", "a program of the project may say anything"


@pytest.mark.parametrize("code", [1, 2])
def test_a_complaint_about_the_tools_own_file_is_its_configuration(code: int) -> None:
    text = "gizmo.toml:4:5: error: invalid pattern\n"

    assert classify("gizmo check", code, text, "").kind == "tooling_error"
    assert classify("otherlint", code, text, "").kind == "lint_failure"


def test_what_a_linter_only_warns_of_does_not_hide_its_findings() -> None:
    warning = "warning: Failed to parse `ruff.toml`: unknown field `x`\n"

    assert classify("ruff check .", 1, "src/a.py:1:8: F401 unused\nFound 1 error.\n", warning).kind == "lint_failure"


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("pattern ./...: directory prefix . does not contain main module", "does not contain main module"),
        ("build constraints exclude all Go files in /src/a", "build constraints exclude all Go files"),
        ("package x.io/a\n\timports x.io/b\n\timports x.io/a: import cycle not allowed", "import cycle not allowed"),
        ("found packages a (a.go) and b (b.go) in /src/a", "found packages a (a.go) and b (b.go)"),
    ],
)
@pytest.mark.parametrize("package", ["./...", "x.io/a"])
def test_why_go_could_not_set_up_a_package_is_in_the_summary(said: str, cause: str, package: str) -> None:
    output = f"# {package}\n{said}\nFAIL\t{package} [setup failed]\nFAIL\n"
    assert cause in classify("go test ./...", 1, output, "").summary
