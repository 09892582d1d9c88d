"""Are the outputs of tools that the samples do not show understood as well?"""

import re
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any, get_args

import pytest

from kotef.classification import classify
from kotef.classification import classify as _function
from kotef.classification.classifier import ENVIRONMENT_FAULTS, FailureKind
from kotef.classification.kinds import MAX_SUMMARY, MAX_TESTS
from kotef.failures import history

PACKAGE = Path(sys.modules[_function.__module__].__file__ or "").parent

# (name, command, exit code, output, kind, detail, what the summary holds)
OUTPUTS = [
    (
        "vitest", "npx vitest run", 1,
        """
         ❯ src/queue.test.ts (2 tests | 1 failed) 5ms
           × queue > pops in order 3ms

        ⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

         FAIL  src/queue.test.ts > queue > pops in order
        AssertionError: expected 3 to be 2 // Object.is equality

        - Expected
        + Received

        - 2
        + 3

         ❯ src/queue.test.ts:7:21

         Test Files  1 failed (1)
              Tests  1 failed | 1 passed (2)
        """,
        "test_failure", "assertion", ["pops in order", "expected 3 to be 2", "src/queue.test.ts:7"],
    ),
    (
        "go panic in a test", "go test ./...", 1,
        """
        --- FAIL: TestPop (0.00s)
        panic: runtime error: index out of range [0] with length 0 [recovered]

        goroutine 6 [running]:
        example.com/q.Pop(...)
        \t/home/ci/q/q.go:9
        example.com/q.TestPop(0xc0000b2000)
        \t/home/ci/q/q_test.go:6 +0x1d
        FAIL\texample.com/q\t0.004s
        FAIL
        """,
        "test_failure", "error", ["TestPop", "index out of range", "q.go:9"],
    ),
    (
        "go test that does not build", "go test ./...", 2,
        "# example.com/q\n./q.go:4:9: undefined: missing\nFAIL\texample.com/q [build failed]\nFAIL\n",
        "lint_failure", "compile", ["example.com/q"],
    ),
    ("go vet", "go vet ./...", 1, "# example.com/q\nvet: ./q.go:4:9: undefined: missing\n", "lint_failure", "lint", ["q.go:4"]),
    ("go build", "go build ./...", 1, "# example.com/q\n./q.go:4:9: undefined: missing\n", "lint_failure", "compile", ["q.go:4"]),
    (
        "surefire", "mvn -B test", 1,
        """
        [INFO] Running com.acme.QueueTest
        [ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in com.acme.QueueTest
        [ERROR] com.acme.QueueTest.popsInOrder -- Time elapsed: 0.01 s <<< FAILURE!
        org.opentest4j.AssertionFailedError: expected: <3> but was: <2>
        \tat org.junit.jupiter.api.AssertEquals.failNotEqual(AssertEquals.java:197)
        \tat com.acme.QueueTest.popsInOrder(QueueTest.java:15)

        [ERROR] Failures:
        [ERROR]   QueueTest.popsInOrder:15 expected: <3> but was: <2>
        [ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0
        [INFO] BUILD FAILURE
        """,
        "test_failure", "assertion", ["QueueTest.popsInOrder", "expected: <3> but was: <2>", "QueueTest.java:15"],
    ),
    (
        "javac through maven", "mvn -q compile", 1,
        "[ERROR] COMPILATION ERROR : \n[ERROR] /home/ci/src/main/java/App.java:[5,10] cannot find symbol\n",
        "lint_failure", "compile", ["App.java:5", "cannot find symbol"],
    ),
    (
        "gradle", "./gradlew test", 1,
        """
        > Task :test FAILED

        QueueTest > pops in order FAILED
            org.opentest4j.AssertionFailedError at QueueTest.java:15

        2 tests completed, 1 failed

        FAILURE: Build failed with an exception.
        """,
        "test_failure", "assertion", ["QueueTest > pops in order", "AssertionFailedError", "QueueTest.java:15"],
    ),
    (
        "googletest", "./build/tests", 1,
        """
        [ RUN      ] Queue.Empty
        [       OK ] Queue.Empty (0 ms)
        [ RUN      ] Queue.Pops
        tests/queue_test.cc:12: Failure
        Expected equality of these values:
          q.pop()
            Which is: 3
          2
        [  FAILED  ] Queue.Pops (0 ms)
        [  PASSED  ] 1 test.
        [  FAILED  ] 1 test, listed below:
        [  FAILED  ] Queue.Pops
        """,
        "test_failure", "assertion", ["Queue.Pops", "queue_test.cc:12"],
    ),
    (
        "rspec", "bundle exec rspec", 1,
        """
        Failures:

          1) Queue pops in order
             Failure/Error: expect(queue.pop).to eq(2)

               expected: 2
                    got: 3
             # ./spec/queue_spec.rb:7:in `block (2 levels) in <top (required)>'

        2 examples, 1 failure

        Failed examples:

        rspec ./spec/queue_spec.rb:5 # Queue pops in order
        """,
        "test_failure", "assertion", ["Queue pops in order", "expected: 2", "queue_spec.rb:7"],
    ),
    (
        "phpunit", "vendor/bin/phpunit", 1,
        """
        1) Acme\\QueueTest::testPop
        Failed asserting that 3 matches expected 2.

        /home/ci/tests/QueueTest.php:14

        FAILURES!
        Tests: 2, Assertions: 2, Failures: 1.
        """,
        "test_failure", "assertion", ["QueueTest::testPop", "Failed asserting", "QueueTest.php:14"],
    ),
    ("jest without tests", "npx jest", 1, "No tests found, exiting with code 1\nRun with `--passWithNoTests`\n", "tooling_error", "no_tests", ["No tests found"]),
    ("prettier", "npx prettier --check .", 1, "Checking formatting...\n[warn] src/a.ts\n[warn] Code style issues found in the above file.\n", "lint_failure", "format", ["src/a.ts"]),
    ("isort", "isort --check .", 1, "ERROR: /home/ci/a.py Imports are incorrectly sorted and/or formatted.\n", "lint_failure", "format", ["a.py"]),
    ("flake8 in tox", "tox -e lint", 1, "lint: commands[0]> flake8 src\nsrc/a.py:1:1: F401 'os' imported but unused\nlint: exit 1 (0.41 seconds) /home/ci> flake8 src pid=77\n", "lint_failure", "lint", ["src/a.py:1", "F401"]),
    ("no space", "npm ci", 1, "npm ERR! ENOSPC: no space left on device, write\n", "tooling_error", "no_space", ["ENOSPC"]),
    ("no network", "pip install .", 1, "error: Temporary failure in name resolution\n", "tooling_error", "network_denied", ["name resolution"]),
    ("no network in a program", "python fetch.py", 1, 'Traceback (most recent call last):\n  File "/home/ci/fetch.py", line 2, in <module>\n    connect()\nOSError: [Errno 101] Network is unreachable\n', "tooling_error", "network_denied", ["Network is unreachable", "fetch.py:2"]),
    ("no names in a program", "node get.js", 1, "node:internal/process/promises:288\n            triggerUncaughtException(err, true);\n\nError: getaddrinfo EAI_AGAIN registry.npmjs.org\n    at GetAddrInfoReqWrap.onlookup (node:dns:107:26)\n    at /home/ci/get.js:3:1\n", "tooling_error", "network_denied", ["EAI_AGAIN"]),
    ("no pytest", "python -m pytest -q", 1, "/usr/bin/python: No module named pytest\n", "tooling_error", "missing_runner", ["No module named pytest"]),
    ("own module not yet written", "python -m inventory.report", 1, "/usr/bin/python: No module named inventory.report\n", "tooling_error", "missing_module", ["inventory.report"]),
    ("pytest file missing", "pytest tests/test_x.py", 4, "\nERROR: file or directory not found: tests/test_x.py\n\n\nno tests ran in 0.01s\n", "tooling_error", "path_not_found", ["tests/test_x.py"]),
    ("jvm exception", "java -jar app.jar", 1, 'Exception in thread "main" java.lang.IllegalStateException: no key\n\tat com.acme.App.main(App.java:12)\n', "runtime_error", "traceback", ["no key", "App.java:12"]),
    ("rust test", "cargo test", 101, "running 1 test\ntest t::eq ... FAILED\n\nfailures:\n\n---- t::eq stdout ----\n\nthread 't::eq' (71) panicked at src/lib.rs:5:12:\nassertion `left == right` failed\n  left: 1\n right: 2\n\nfailures:\n    t::eq\n\ntest result: FAILED. 0 passed; 1 failed\n", "test_failure", "assertion", ["t::eq", "left: 1", "src/lib.rs:5"]),
    ("own module in a test", "pytest -q", 2, "___ ERROR collecting tests/test_a.py ___\ntests/test_a.py:1: in <module>\n    import shop\nE   ModuleNotFoundError: No module named 'shop'\n_ _ _\nsrc/shop/__init__.py\n1 error in 0.05s\n", "test_failure", "collection", ["shop"]),
    ("bare node id", "pytest -q tests/test_a.py::test_gone", 4, "ERROR: not found: /home/ci/tests/test_a.py::test_gone\n(no match in any of [<Module test_a.py>])\n\nno tests ran in 0.01s\n", "tooling_error", "no_tests", ["test_gone"]),
]  # fmt: skip


@pytest.mark.parametrize("row", OUTPUTS, ids=[row[0] for row in OUTPUTS])
def test_the_output_is_understood(row: tuple[str, str, int, str, str, str, list[str]]) -> None:
    _, command, code, text, kind, detail, facts = row

    diagnosis = classify(command, code, dedent(text), "")

    assert (diagnosis.kind, diagnosis.detail) == (kind, detail), diagnosis.summary
    assert [fact for fact in facts if fact not in diagnosis.summary] == [], diagnosis.summary


@pytest.mark.parametrize("name", ["vitest", "surefire", "rspec", "gradle", "rust test", "googletest"])
def test_each_failing_test_is_named_once(name: str) -> None:
    command, code, text = next(row[1:4] for row in OUTPUTS if row[0] == name)

    assert len(classify(command, code, dedent(text), "").tests) == 1


def test_escape_codes_do_not_hide_a_verdict() -> None:
    text = "\x1b[31mFAILED\x1b[0m tests/test_a.py::\x1b[1mtest_x\x1b[0m - assert 1 == 2\n\x1b[31m\x1b[1m1 failed\x1b[0m in 0.1s\x1b[0m\n"

    assert classify("pytest --color=yes", 1, text, "").tests == ("tests/test_a.py::test_x",)


def test_a_compilers_closing_fatal_error_is_no_panic() -> None:
    text = "a.c:1:2: error: expected ';'\nfatal error: too many errors emitted, stopping now [-ferror-limit=]\n"

    assert classify("clang -c a.c", 1, "", text).detail == "compile"


def test_a_program_that_prints_an_error_is_not_taken_for_a_compiler() -> None:
    assert classify("./deploy", 1, "", "error: the branch is protected\n").kind == "unknown"


def test_progress_lines_show_their_last_state() -> None:
    assert classify("./fetch", 1, "10%\r50%\rdisk gone\n", "").summary.startswith("disk gone")


@pytest.mark.parametrize("command", ["cat build.log", "git log -p", "grep -r failed .", "echo '1 failed in 0.1s'"])
def test_a_command_that_only_reads_may_show_any_failure(command: str) -> None:
    assert classify(command, 0, "FAILED tests/test_a.py::test_x - boom\n1 failed in 0.1s\n", "").kind is None


def test_the_outer_runners_pass_overrules_a_failure_printed_on_the_way() -> None:
    text = "inner run:\n1 failed in 0.1s\n.\n12 passed in 3.00s\n"

    assert classify("pytest -s", 0, text, "").kind is None


@pytest.mark.parametrize("command", ["pytest -q | cat", "make -k test", "pytest || true", "npm test; echo done"])
def test_exit_zero_does_not_hide_failed_tests(command: str) -> None:
    assert classify(command, 0, "FAILED tests/test_a.py::test_x - boom\n1 failed in 0.1s\n", "").kind == "test_failure"


def test_a_linters_error_behind_a_pipe_is_not_hidden() -> None:
    text = "a.py:1: error: no  [misc]\nFound 1 error in 1 file (checked 1 source file)\n"

    assert classify("mypy . | tee log", 0, text, "").kind == "lint_failure"
    assert classify("mypy .", 0, text, "").kind is None, "mypy's own exit status is believed"


@pytest.mark.parametrize(("code", "kind", "detail"), [(-9, "tooling_error", "signal"), (143, "tooling_error", "signal"), (-11, "runtime_error", "signal"), (134, "runtime_error", "signal"), (126, "tooling_error", "not_executable"), (127, "tooling_error", "command_not_found"), (1, "unknown", "silent"), (200, "unknown", "silent"), (None, "tooling_error", "timeout")])  # fmt: skip
def test_a_silent_end_is_told_by_its_status(code: int | None, kind: str, detail: str) -> None:
    diagnosis = classify("./serve", code, "", "")

    assert (diagnosis.kind, diagnosis.detail) == (kind, detail)
    assert diagnosis.summary
    assert diagnosis.fingerprint


def test_a_timeout_names_the_test_that_hung() -> None:
    diagnosis = classify("pytest -v", None, "collected 1 item\n\ntests/test_a.py::test_lock ", "", timed_out=True)

    assert "timed out" in diagnosis.summary
    assert "tests/test_a.py::test_lock" in diagnosis.summary


def test_summaries_and_ids_are_bounded() -> None:
    text = (
        "".join(f"FAILED tests/test_a.py::test_{number} - {'x' * 600}\n" for number in range(99)) + "99 failed in 1s\n"
    )
    diagnosis = classify("pytest", 1, text, "")

    assert len(diagnosis.summary) <= MAX_SUMMARY
    assert len(diagnosis.tests) == MAX_TESTS


def test_kinds_and_bounds_are_those_of_the_history() -> None:
    assert get_args(FailureKind) == get_args(history.FailureKind)
    assert (MAX_SUMMARY, MAX_TESTS) == (history.MAX_SUMMARY, history.MAX_TESTS)


def test_a_missing_module_is_not_the_machines_fault() -> None:
    assert "missing_runner" in ENVIRONMENT_FAULTS
    assert "missing_module" not in ENVIRONMENT_FAULTS


def test_classification_needs_no_history() -> None:
    """It is a room of its own: what a run remembers is no part of what one output says."""
    for path in PACKAGE.glob("*.py"):
        assert "kotef.failures" not in path.read_text("utf-8"), path.name


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("make", "1", "", ""), "exit_code is '1': it must be an int"),
        (("make", 1, b"x", ""), "stdout must be text, not bytes (decode it first)"),
        (("make", 1, "", None), 'stderr must be text, not NoneType (pass "" for nothing)'),
        ((None, 1, "", ""), "command must be text, not NoneType"),
    ],
)
def test_an_argument_of_another_type_is_named(arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(TypeError, match=re.escape(said)):
        classify(*arguments)
