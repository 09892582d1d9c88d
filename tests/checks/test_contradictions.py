"""What a command's own words say against its exit status 0, and what only looks as if they did."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cpu_time import bounded_cpu
from support.example_count import example_count

from kotef.checks.contradictions import admission_of, diagnosis_of

WRAPPED = "sh -c './ci; exit 0'"

LIES = {
    "gradle, counts": "5 tests completed, 2 failed\n\nBUILD SUCCESSFUL in 3s",
    "gradle, ignoreFailures": "There were failing tests. See the report at: file:///w/build/index.html\n\nBUILD SUCCESSFUL",
    "TAP": "1..2\nok 1 - a\nnot ok 2 - b",
    "bats": "1..2\nok 1 a\nnot ok 2 b\n#   `false' failed",
    "pytest without its time": "FAILED t.py::a - AssertionError\n1 failed",
    "two runs, the first red": "2 failed in 0.1s\n4 passed in 0.1s",
    "two runners, the first red": "Tests:       1 failed, 5 passed, 6 total\n4 passed in 0.1s",
    "two unittest runs": "Ran 2 tests in 0.1s\n\nFAILED (failures=1)\n\nRan 3 tests in 0.1s\n\nOK",
    "go": "FAIL\ta/c\t0.1s\n3 passed in 0.1s",
    "mypy": "Found 1 error in 1 file",
    "mypy, sources": "a.py:1: error: x  [misc]\nFound 1 error in 1 file (checked 3 source files)",
    "ruff": "a.py:1:8: F401 `os` imported but unused\nFound 1 error.",
    "tsc": "error TS2322: Type 'string' is not assignable to type 'number'.",
    "tsc, place": "a.ts(1,2): error TS2322: Type 'string' is not assignable to type 'number'.",
    "eslint": "✖ 1 problem (1 error, 0 warnings)",
    "pyright": "1 error, 0 warnings, 0 informations",
    "make": "make: *** [Makefile:2: test] Error 1",
    "make, ignored": "make: *** [test] Error 1 (ignored)",
    "coverage": "FAIL Required test coverage of 90% not reached. Total coverage: 50.00%",
    "cargo": "error: test failed, to rerun pass `--lib`",
    "busted": "3 successes / 1 failure / 0 errors / 0 pending : 0.1 seconds",
    "sbt": "[error] Failed: Total 3, Failed 1, Errors 0, Passed 2",
}

HONEST = {
    "its tests' own words": "2 failed logins\nERROR: expected\n.\n1 passed in 0.1s",
    "a quoted assertion": "E   assert 1 == 2 is what a failure looks like\n1 passed in 0.02s",
    "a sentence of counts": "3 tests completed, 1 failed as expected\n5 examples, 2 failures are wanted here",
    "a warning's text": "  UserWarning: 2 failed deprecations, 1 error\n1 passed, 1 warning in 0.02s",
    "TAP's own exceptions": "1..2\nnot ok 1 - later # TODO write it\nnot ok 2 # skip no network",
    "TAP, a word": "not ok yet\nnot ok 5 times in a row",
    "the failed tests again": "2 failed, 4 passed in 0.1s\n2 passed, 4 deselected in 0.1s",
    "all tests again": "2 failed, 4 passed in 0.1s\n6 passed in 0.1s",
    "only warnings": "✖ 1 problem (0 errors, 1 warning)\n0 errors, 1 warning, 0 informations",
    "nothing found": "Success: no issues found in 3 source files\nAll checks passed!\nFound 0 errors.",
    "a count without a tool": "Found 2 errors.",
    "fixed": "a.py:1:8: F401 `os` imported but unused\nFound 3 errors (3 fixed, 0 remaining).",
    "a recipe line with a dash": "rm: cannot remove 'x'\nmake: [Makefile:2: clean] Error 1 (ignored)",
    "an echo of the log": "log: Found 1 error in 1 file\n> eslint: ✖ 1 problem (1 error, 0 warnings)",
    "a bare count": "1 failed",
}


@pytest.mark.parametrize("name", LIES)
def test_words_that_say_failure_are_not_green(name: str) -> None:
    diagnosis = diagnosis_of(WRAPPED, 0, f"starting\n{LIES[name]}\n")

    assert (diagnosis.detail, diagnosis.summary.startswith("exit status 0, but")) == ("contradiction", True)
    assert diagnosis.kind in {"test_failure", "lint_failure"}


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("command", [WRAPPED, "make check", "npm test"])
def test_words_that_only_look_like_failure_are_green(name: str, command: str) -> None:
    assert admission_of(command, 0, f"starting\n{HONEST[name]}\n") is None


def _records(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


REPOSITORY = Path(__file__).parents[2]
PASSES = [
    record
    for path in (REPOSITORY / "benchmarks/failures/tuning.jsonl", REPOSITORY / "tests/classification/samples.jsonl")
    for record in _records(path)
    if record["kind"] is None
]


@pytest.mark.parametrize("record", PASSES, ids=lambda record: record["id"])
def test_the_output_of_tools_that_passed_is_green(record: dict[str, str]) -> None:
    output = f"{record['stdout']}\n{record['stderr']}"

    assert diagnosis_of(record["command"], 0, output).kind is None
    if not record["command"].startswith("cat ") and "--exit-zero" not in record["command"]:  # these may show a failure
        assert admission_of(WRAPPED, 0, output) is None


def test_there_are_honest_outputs_to_try() -> None:
    assert len(PASSES) > 30


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("pytest -s", "1 failed in 0.1s\n.\n12 passed in 3.00s"),
        ("cd app && python -m pytest", "1 failed in 0.1s\n.\n12 passed in 3.00s"),
        ("mypy .", "Found 1 error in 1 file"),
        ("ruff check --exit-zero", "a.py:1:8: F401 x\nFound 1 error."),
        ("cat log", "Found 1 error in 1 file\n1 failed in 0.1s"),
    ],
)
def test_one_runner_or_linter_started_alone_is_believed(command: str, text: str) -> None:
    assert admission_of(command, 0, text) is None


@pytest.mark.parametrize("command", ["mypy . | tee log", "eslint .; true", "make lint", "npm run lint"])
def test_a_linter_whose_status_is_hidden_is_not_believed(command: str) -> None:
    assert admission_of(command, 0, "✖ 1 problem (1 error, 0 warnings)") is not None


def test_another_status_needs_no_contradiction() -> None:
    assert admission_of(WRAPPED, 1, LIES["mypy"]) is None


@pytest.mark.parametrize(
    "nasty", ["not ok 1 # " * 200_000, "1 a, " * 300_000, "Found 1 error. a:1:" * 100_000, "make: *** [" * 200_000]
)
def test_hostile_output_takes_linear_time(nasty: str) -> None:
    text = "\n".join([nasty, *("1" * 5000 + ":1:1" for _ in range(500)), "Found 2 errors", "1 failed", "ERROR a.py"])
    with bounded_cpu():
        admission_of(WRAPPED, 0, text)


WORDS = st.sampled_from(
    ["failed", "failure", "failures", "error", "errors", "not ok", "FAIL", "FAILED", "tests", "passed"]
)
NOUNS = st.sampled_from(["logins", "of the day", "is expected", "were retried", "in the queue"])


@example_count(80)
@given(st.lists(st.tuples(st.integers(0, 99), WORDS, NOUNS), min_size=1, max_size=6), st.booleans())
def test_no_sentence_with_such_words_makes_a_green_run_red(said: list[tuple[int, str, str]], first: bool) -> None:
    lines = [f"{number} {word} {noun}" if first else f"{word} {number} {noun}" for number, word, noun in said]
    honest = "\n".join([*lines, "7 passed in 0.10s"])

    assert admission_of(WRAPPED, 0, honest) is None
    assert diagnosis_of(WRAPPED, 0, honest).kind is None
