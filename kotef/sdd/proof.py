"""Which lines of a ticket's Definition of Done does a verification prove, and by what?"""

import re
from collections.abc import Sequence
from typing import Final

from kotef.checks.verdict import CheckVerdict, Verification
from kotef.sdd.ticket import DoneLine

_WHOLE_SUITE: Final = re.compile(
    r"\b(?:all|the|every|existing|whole)\b.{0,30}\b(?:tests?|suite|checks?)\b.{0,30}\b(?:pass|green|succeed)",
    re.IGNORECASE,
)
_TOOLS: Final = ("ruff", "mypy", "pyright", "flake8", "pylint", "eslint", "tsc", "clippy", "prettier", "black")


def proved_lines(done: Sequence[DoneLine], judged: Verification) -> dict[int, str]:
    """Line number of each proved line → its evidence in words. A line nothing proves is missing.

    A line is proved when it names, letter by letter, the command of a satisfied check; or tests by id, file or
    function of which at least one ran and all passed; or a tool whose check is satisfied; or the whole suite, and
    every test check is satisfied with more than no test executed. Prose proves nothing.
    """
    if not judged.passed:
        return {}
    evidence = ((line.line, _evidence(line.text, judged)) for line in done)
    return {number: why for number, why in evidence if why}


def _evidence(text: str, judged: Verification) -> str:
    satisfied = [check for check in judged.checks if check.satisfied and not check.advisory]
    for check in satisfied:
        if _squeezed(check.command) in _squeezed(text):
            return f"`{check.command}` is satisfied"
    if tests := _named_tests(text, judged):
        green = all(judged.tests[test] == "passed" for test in tests)
        return f"{len(tests)} named test(s) passed" if green else ""
    for tool in _TOOLS:
        named = [check for check in satisfied if tool in check.command.split()]
        if named and re.search(rf"\b{tool}\b", text, re.IGNORECASE):
            return f"`{named[0].command}` is satisfied"
    if _WHOLE_SUITE.search(text) and _suite_is_green(judged.checks):
        return "every test check is satisfied"
    return ""


def _squeezed(text: str) -> str:
    return " ".join(text.replace("`", " ").split())


def _named_tests(text: str, judged: Verification) -> list[str]:
    words = set(re.findall(r"[\w./:\-\[\]]+", text))
    return [
        test
        for test in judged.tests
        if words.intersection((test, test.split("::")[0], test.split("::")[-1].split("[")[0]))
    ]


def _suite_is_green(checks: Sequence[CheckVerdict]) -> bool:
    tests = [check for check in checks if check.role == "test"]
    return bool(tests) and all(check.passed and check.executed for check in tests)
