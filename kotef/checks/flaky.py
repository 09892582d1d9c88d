"""Flaky tests: reruns, one test at a time, of tests that fail unexpectedly; `nodes/run_checks.py` asks for them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from kotef.checks.single_test_command import alone, passed_alone
from kotef.checks.types import Check, CommandResult
from kotef.checks.verification import Verification
from kotef.failures.history import MAX_TESTS

MAX_RERUN: Final = 20
"""Tests of one check that are run again; more at once are not chance."""

Run = Callable[[Check, str], Awaitable[CommandResult]]
"""Runs one check; the second argument names its log."""


def unexpected(check: Check, result: CommandResult, before: Verification | None) -> tuple[str, ...]:
    """The tests whose failure is in question, at most `MAX_RERUN`: all that fail, except for those red in `before`.

    Ids of the report; without one the names read from the output, and none where they may be only a part of them.
    """
    if result.passed or result.timed_out or result.detail == "contradiction":
        return ()
    if result.tests is not None:
        known = before.red_units if before else frozenset()
        reds = [test for test in result.tests if test in result.red_ids]
        return tuple(test for test in reds if known.isdisjoint((test, f"{check.name}: {test}")))[:MAX_RERUN]

    verdicts = before.checks if before else ()
    was = next((verdict.failing for verdict in verdicts if verdict.name == check.name), ())
    if max(len(result.failing), len(was)) >= MAX_TESTS:
        return ()
    return tuple(test for test in result.failing if test not in was)


async def flaky_among(
    check: Check, tests: Sequence[str], *, times: int, run: Run, exists: Callable[[str], bool], log_name: str
) -> tuple[str, ...]:
    """Which of the tests pass when they are run again without all others, in at least one of `times` runs.

    They are run together in one command: what they do to each other cannot be distinguished from a failure of their
    own. None if the command takes no ids, see `alone`.
    """
    flaky: list[str] = []
    for number in range(1, times + 1):
        left = [test for test in tests if test not in flaky]
        command = alone(check.command, left, exists=exists)
        if command is None:
            break
        again = await run(check.model_copy(update={"command": command}), f"{log_name}-again-{number}")
        flaky += passed_alone(left, again)
    return tuple(test for test in tests if test in flaky)
