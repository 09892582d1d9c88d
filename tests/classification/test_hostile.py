"""Does classification stand whatever a command prints?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cpu_time import bounded_cpu
from support.example_count import example_count

from kotef.classification import classify
from kotef.classification.fingerprints import normalise

MEGABYTE = 1_000_000
NASTY = {
    "one long line": "x" * (4 * MEGABYTE),
    "one long path": "/a" * (2 * MEGABYTE),
    "dots": "a." * (2 * MEGABYTE),
    "blanks": " " * (4 * MEGABYTE),
    "newlines": "\n" * (8 * MEGABYTE),
    "carriage returns": "10%\r" * (2 * MEGABYTE),
    "escapes": "\x1b[" * (2 * MEGABYTE),
    "unfinished title": "\x1b]0;" * MEGABYTE,
    "headers": "___ test_x ___\nE   x\n" * 200_000,
    "tracebacks": "Traceback (most recent call last):\n" * 100_000,
    "diagnostics": "a/b.c:1:2: error: x\n" * 200_000,
    "places": "a.b:1 " * MEGABYTE,
    "mocha": "  1 failing\n  1) a\n" * 200_000,
    "long words": ("y" * 999 + "\n") * 8000,
    "quotes": "thread '" * MEGABYTE,
    "digits": "1, " * (2 * MEGABYTE),
    "every hint": "FAILED ERROR error: failed : Error No module named 'x' --- FAIL: not ok 1 at a.b:1 (x) [x] in 1s\n"
    * 80_000,
}


@pytest.mark.parametrize("name", NASTY)
def test_eight_megabytes_of_anything_take_a_moment(name: str) -> None:
    text = NASTY[name]
    with bounded_cpu():
        diagnosis = classify("make test", 1, text, text)

    assert diagnosis.kind is not None
    assert len(diagnosis.summary) <= 400


@pytest.mark.parametrize("name", NASTY)
def test_a_timeout_with_nasty_output_takes_a_moment(name: str) -> None:
    with bounded_cpu():
        assert classify("make test", None, NASTY[name], NASTY[name], timed_out=True).detail == "timeout"


@pytest.mark.parametrize("name", ["one long path", "dots", "places", "quotes", "digits"])
def test_normalising_long_text_takes_a_moment(name: str) -> None:
    with bounded_cpu():
        normalise(NASTY[name][:100_000])


PIECES = st.sampled_from(
    ["\x1b[31m", "\0", "\r", "\n", "\ud800", "\ufffd", "E   ", "FAILED ", "1 failed in 0.1s", "Traceback (most recent call last):\n",
     '  File "a.py", line 1, in f\n', "ValueError: x\n", "a.py:1:2: error: x\n", "___ t ___\n", "--> ", "panicked at", ":", "● a › b\n",
     "  1) a\n", " failing\n", "--- FAIL: T (0.00s)\n", "FAIL\tx\t0.1s\n", "<<< FAILURE!", "test result: FAILED", "---- a stdout ----\n",
     "thread 'a' panicked at src/a.rs:1:1:\n", "No module named 'x'", "terminate called\n", "(Use `node --trace-uncaught", "SyntaxError: ",
     "In x.sh line 2:\n", "make: *** [x] Error 127\n", "CMake Error:\n", "***Test Failed***", "[  FAILED  ] a.b\n", "[ RUN      ] a.b\n"]
)  # fmt: skip


@given(
    command=st.one_of(
        st.text(max_size=60), st.sampled_from(["pytest", "make", "ruff check", "node a.js", "cat x", "go test"])
    ),
    exit_code=st.one_of(st.none(), st.integers(-70, 300), st.integers()),
    stdout=st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=25).map("".join),
    stderr=st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=25).map("".join),
    timed_out=st.booleans(),
)
@example_count(300)
def test_nothing_a_command_prints_raises(
    command: str, exit_code: int | None, stdout: str, stderr: str, timed_out: bool
) -> None:
    diagnosis = classify(command, exit_code, stdout, stderr, timed_out)

    assert diagnosis == classify(command, exit_code, stdout, stderr, timed_out), "the same input, the same answer"
    assert len(diagnosis.summary) <= 400
    assert len(diagnosis.summary.splitlines()) <= 3
    assert len(diagnosis.tests) <= 20
    diagnosis.summary.encode("utf-8")
    "".join(diagnosis.tests).encode("utf-8")
    if exit_code != 0 or timed_out:
        assert diagnosis.kind is not None
        assert diagnosis.summary
        assert diagnosis.fingerprint
