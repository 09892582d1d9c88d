"""Evidence for the lines of a ticket's Definition of Done."""

import re
from collections.abc import Collection, Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from kotef.checks.types import RED
from kotef.checks.verdict import CheckVerdict, Verification
from kotef.failures.plural import counted
from kotef.integrity import is_test_code
from kotef.sdd.ticket import DoneLine
from kotef.shell import role_of

ProvedBy = Literal["check", "tests", "file", "person", "refuted"]
UNPROVED: Final[frozenset[ProvedBy]] = frozenset({"person", "refuted"})

MAX_NAMED: Final = 20
"""Tests or files that evidence names."""

_WHOLE_SUITE: Final = re.compile(
    r"\b(?:all|the|every|existing|whole)\b.{0,30}\b(?:tests?|suite|checks?)\b.{0,30}\b(?:pass|green|succeed)",
    re.IGNORECASE,
)
_TOOLS: Final = ("ruff", "mypy", "pyright", "flake8", "pylint", "eslint", "tsc", "clippy", "prettier", "black")
_PASSES: Final = re.compile(
    r"\b(?:pass|passes|passing|clean|green|happy|quiet|silent|satisfied|succeeds?|exits? (?:with )?0"
    r"|no (?:new )?(?:errors?|warnings?|complaints?|findings?)|without (?:errors?|warnings?|complaints?|findings?))\b",
    re.IGNORECASE,
)
_NAME_OF_CODE: Final = re.compile(r"_|[a-z][A-Z]")
"""Pattern of a bare test name, unlike a word of prose."""
_SPAN: Final = re.compile(r"`+([^`]+)`+")
_WORD: Final = re.compile(r"[\w./:\-\[\]]+")
_TEST_NAME: Final = re.compile(r"test_\w+(?:\[.*)?|Test[A-Z]\w*")
_FILE: Final = re.compile(r"(?:[\w@.-]+/)*[\w@-][\w@.-]*\.[A-Za-z]\w{0,7}|(?:[\w@.-]+/)+[\w@.-]+")
_SAYS_IT_IS_THERE: Final = frozenset(
    {"a", "an", "and", "are", "been", "file", "files", "has", "have", "in", "is", "it", "new", "of", "the", "there"}
    | {"add", "added", "adds", "create", "created", "creates", "exist", "exists", "present"}
    | {"update", "updated", "updates", "write", "writes", "written"}
)


class Evidence(BaseModel):
    """The evidence for one line of a Definition of Done, or that there is none.

    Source: code, from what the verification of the run's last tree says and from the diff; prose proves nothing.
    """

    model_config = ConfigDict(frozen=True)

    line: int
    """In the ticket's file, counted from 1."""
    text: str
    label: str = ""
    """The author's name for the line, if any."""
    path: str = ""
    """Its file, if not the ticket's own."""
    proved_by: ProvedBy
    """`check`: a satisfied check that the line names; `tests`: named ones, all passed; `file`: the line only asks for
    files, and the run wrote them; `person`: nothing that code can see, so the box stays as it is;
    `refuted`: a test that it names failed, or a check that it means is not satisfied."""
    why: str
    """One line; with `person` where to look, or empty."""
    tests: tuple[str, ...] = ()
    """Ids, at most 20; with `refuted` those that failed."""
    files: tuple[str, ...] = ()
    """Paths in the diff that the line names; with `person` a place to look at, not a proof."""

    @property
    def proved(self) -> bool:
        """Whether the box may be ticked."""
        return self.proved_by not in UNPROVED


def trace(done: Sequence[DoneLine], judged: Verification | None, written: Collection[str]) -> tuple[Evidence, ...]:
    """Every line with its evidence, in order; without a passed verification nothing is proved.

    `written` are the paths that the run changed and that exist now. A line is proved when it names a satisfied check's
    command letter by letter; or tests by id, file or function of which at least one ran and all passed; or says that a
    tool is content whose check is satisfied; or that the whole suite passes, and every test check is satisfied with
    more than no test executed; or when it says only that files are to be written, and all of them were.
    """
    return tuple(_evidence(line, judged, written) for line in done)


def unproved(done: Sequence[DoneLine], judged: Verification) -> tuple[str, ...]:
    """The text of the lines that checks do not prove."""
    return tuple(found.text for found in trace(done, judged, ()) if not found.proved)


def could_be_proved(text: str, commands: Collection[str]) -> bool:
    """Whether a run with these checks may prove a line at all: it names one, a test, a tool, the suite, or only files.

    It says no more than that: the tests that a line names need not exist yet.
    """
    words = _words(text)
    if any(_names_command(text, command) or _names_tool(text, command) for command in commands):
        return True
    if _WHOLE_SUITE.search(text) and any(role_of(command) == "test" for command in commands):
        return True
    if any("::" in word or _TEST_NAME.fullmatch(word) or is_test_code(word) for word in words):
        return True
    files = [word for word in words if _FILE.fullmatch(word)]
    return bool(files) and _only_names_files(text, files)


def _evidence(line: DoneLine, judged: Verification | None, written: Collection[str]) -> Evidence:
    def by(proved_by: ProvedBy, why: str, *, tests: Sequence[str] = (), files: Sequence[str] = ()) -> Evidence:
        place = {"line": line.line, "text": line.text, "label": line.label, "path": line.path}
        return Evidence(**place, proved_by=proved_by, why=why, tests=tuple(tests), files=tuple(files))

    if judged is None:
        return by("person", "")
    tests = _named_tests(line.text, judged)
    if not judged.passed:
        if red := [test for test in tests if judged.tests[test] in RED]:
            return by("refuted", f"{counted(len(red), 'named test')} failed", tests=red[:MAX_NAMED])
        meant = _named_check(line.text, judged, satisfied=False) or _red_suite(line.text, judged.checks)
        return by("refuted", f"`{meant.command}` is not satisfied") if meant else by("person", "")
    if check := _named_check(line.text, judged, satisfied=True):
        return by("check", f"`{check.command}` is satisfied")
    if tests:
        green = all(judged.tests[test] == "passed" for test in tests)
        why = f"{counted(len(tests), 'named test')} passed" if green else "a named test did not pass"
        return by("tests" if green else "person", why, tests=tests[:MAX_NAMED])
    if _WHOLE_SUITE.search(line.text) and (suite := _green_suite(judged.checks)):
        return by("check", f"every test check is satisfied: {', '.join(f'`{check.command}`' for check in suite)}")
    files = [path for path in sorted(written) if path in _words(line.text)]
    if files and _only_names_files(line.text, files):
        return by("file", f"written by the run: {', '.join(files[:MAX_NAMED])}", files=files[:MAX_NAMED])
    if files:
        return by("person", f"look at {', '.join(files[:MAX_NAMED])}, which the run wrote", files=files[:MAX_NAMED])
    return by("person", "ticked before the run" if line.checked else "")


def _named_check(text: str, judged: Verification, *, satisfied: bool) -> CheckVerdict | None:
    """The check whose command, or whose tool, the line names; of one word only where that is meant."""
    checks = [check for check in judged.checks if check.satisfied is satisfied and not check.advisory]
    named = [check for check in checks if _names_command(text, check.command)]
    named += [check for check in checks if _names_tool(text, check.command)]
    return next(iter(named), None)


def _names_command(text: str, command: str) -> bool:
    spans = {" ".join(span.split()) for span in _SPAN.findall(text)}
    words = " ".join(text.replace("`", " ").split())
    command = " ".join(command.split())
    return command in spans or (command in words and (" " in command or bool(_PASSES.search(words))))


def _names_tool(text: str, command: str) -> bool:
    tools = [tool for tool in _TOOLS if tool in command.split()]
    named = any(re.search(rf"\b{tool}\b", text, re.IGNORECASE) for tool in tools)
    return named and bool(_PASSES.search(text))


def _named_tests(text: str, judged: Verification) -> list[str]:
    words = _words(text)
    return [test for test in judged.tests if words.intersection((test, test.split("::")[0])) or _bare(test) in words]


def _bare(test: str) -> str:
    """The name of the function, where it cannot be mistaken for prose; else an id that no line names."""
    name = re.split(r"::|\.", test.partition("[")[0])[-1]
    return name if _NAME_OF_CODE.search(name) else test


def _words(text: str) -> set[str]:
    found = [*_WORD.findall(text), *_SPAN.findall(text)]
    return {*found, *(word.strip(".:-") for word in found)}


def _green_suite(checks: Sequence[CheckVerdict]) -> list[CheckVerdict]:
    tests = [check for check in checks if check.role == "test"]
    return tests if all(check.passed and check.executed for check in tests) else []


def _red_suite(text: str, checks: Sequence[CheckVerdict]) -> CheckVerdict | None:
    red = (check for check in checks if check.role == "test" and not (check.satisfied or check.advisory))
    return next(red, None) if _WHOLE_SUITE.search(text) else None


def _only_names_files(text: str, files: Collection[str]) -> bool:
    """Whether the line asks only for these files to be written."""
    words = {word.strip(".:-").casefold() for word in _WORD.findall(text)} - {path.casefold() for path in files}
    return words - {""} <= _SAYS_IT_IS_THERE
