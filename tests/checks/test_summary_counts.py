"""Counts that a test program prints in its own words are read; everything that only looks like them is not."""

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.checks.runner import run_check
from kotef.checks.summary_counts import summary_counts
from kotef.checks.types import CommandResult
from kotef.sandbox import child_environment


@pytest.mark.parametrize(
    ("text", "ran", "failed"),
    [
        ("46 tests, 46 passed, 0 failed", 46, 0),
        ("102 tests conducted, 0 failed.", 102, 0),
        ("Ran 5 tests, 2 failures", 5, 2),
        ("Tests failed: 0\nTests passed: 349", 349, 0),
        ("PASSED: 16\nFAILED: 0\ncc -o other t.c\n./other\n\n\nPASSED: 16\nFAILED: 0", 32, 0),
        ("  Total:     32\n  Passed:    32\n  Skipped:   0\n  Duration:  1.49ms", 32, 0),
        ("| Tests   | Total 30 | Passed 30 | Failed 0 |\n| Asserts | Total 142 | Passed 142 | Failed 0 |", 30, 0),
        ("ALL TESTS PASSED (152/152)", 152, 0),
        ("12/12 tests passed (100%)", 12, 0),
        ("\x1b[32m=== 12 passed, 1 failed in 0.3s ===\x1b[0m", 13, 1),
        ("3 passed, 0 failed\n\n\n\n2 passed, 1 failed\n\n\n\ntotal: 5 passed, 1 failed", 6, 1),
        ("ok 1 - a\nok 2 - b\nok 3 - c", 3, 0),
        ("PASS: adds\nPASS: subtracts", 2, 0),
    ],
)
def test_a_summary_made_of_counts_is_read(text: str, ran: int, failed: int) -> None:
    found = summary_counts(f"cc -O2 -o tests tests.c\n./tests\n{text}\n")

    assert found is not None
    assert (found.executed, found.failed) == (ran, failed)


@pytest.mark.parametrize(
    "text",
    [
        "5 passed",
        "3 errors",
        "0 errors, 0 warnings",
        "12 files, 0 errors",
        "2 failed logins, 3 passed",
        "Running 12 tests",
        "test 3 of 5",
        "Total: 12",
        "100% passed",
        "0 tests, 0 passed, 0 failed",
        "12 tests, 11 passed, 0 failed",
        "SOME TESTS FAILED (150/152)",
        "Total: 31\nPassed: 30\nSkipped: 1",
        "ok 1\nok 3",
        "ok 1\nnot ok 2",
        "PASS: adds\nFAIL: subtracts",
        "checking for strdup... ok\nchecking for printf... ok",
        "✓ 34 modules transformed\n✓ built in 1.2s",
        "version 2.0 passed 3 checks of 4 and failed none",
    ],
)
def test_what_is_doubtful_counts_nothing(text: str) -> None:
    assert summary_counts(f"cc -O2 -o tests tests.c\n{text}\n") is None


_WORD = {
    "total": ("tests", "Tests run", "total", "cases"),
    "passed": ("passed", "OK", "Succeeded", "passes"),
    "failed": ("failed", "failures", "FAIL", "errors"),
}


@given(
    passed=st.integers(0, 500),
    failed=st.integers(0, 50),
    order=st.permutations(["total", "passed", "failed"]),
    chosen=st.tuples(*(st.sampled_from(words) for words in _WORD.values())),
    form=st.sampled_from(["{number} {word}", "{word}: {number}", "{word} = {number}", "{word} {number}"]),
    frame=st.sampled_from([(", ", "{}"), ("; ", "=== {} ==="), (" | ", "[ {} ]"), (" / ", "{}."), ("\n", "{}")]),
)
def test_any_order_form_and_frame_of_three_counts_is_read(  # noqa: PLR0917
    passed: int, failed: int, order: list[str], chosen: tuple[str, str, str], form: str, frame: tuple[str, str]
) -> None:
    numbers = {"total": passed + failed, "passed": passed, "failed": failed}
    words = dict(zip(_WORD, chosen, strict=True))
    counts = [form.format(number=numbers[name], word=words[name]) for name in order]
    text = frame[1].format(frame[0].join(counts))

    found = summary_counts(text)

    if passed + failed == 0:
        assert found is None
    else:
        assert found is not None, text
        assert (found.executed, found.failed) == (passed + failed, failed), text


@given(st.text(alphabet=st.sampled_from("0123456789 passedfilokt,:/()\n\x1b[m.%"), max_size=300))
def test_noise_never_raises_and_numbers_agree(text: str) -> None:
    found = summary_counts(text)

    assert found is None or (found.executed > 0 and 0 <= found.failed <= found.executed)


def _ran(root: Path, command: str) -> CommandResult:
    env = child_environment({"PATH": os.environ["PATH"]})
    return asyncio.run(run_check(command, root=root, env=env, timeout=60, idle_timeout=None))


def test_a_summary_is_weaker_evidence_and_one_that_counts_failures_contradicts_a_success(tmp_path: Path) -> None:
    (tmp_path / "good.sh").write_text("echo '46 tests, 46 passed, 0 failed'\n")
    (tmp_path / "bad.sh").write_text("echo '46 tests, 44 passed, 2 failed'\n")

    good, bad = _ran(tmp_path, "sh good.sh"), _ran(tmp_path, "sh bad.sh")

    assert (good.passed, good.evidence, good.tests_executed) == (True, "summary", 46)
    assert (bad.passed, bad.detail, bad.failed) == (False, "contradiction", 2)


def test_a_runner_that_is_known_is_not_read_by_such_words(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("print('46 tests, 46 passed, 0 failed')\nraise SystemExit(3)\n")

    result = _ran(tmp_path, "python3 -m unittest discover -p conftest.py")

    assert result.evidence != "summary"
