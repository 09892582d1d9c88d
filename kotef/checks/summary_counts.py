"""Counts in the summary that a test program prints in its own words: `46 tests, 46 passed, 0 failed`.

The last resort, for programs without a closing line of a known runner. Weaker evidence: nothing says who printed it. A
line counts only if it is made of counts and nothing else, if at least two of its numbers agree with each other, and if
it reports tests that passed or failed; whatever is doubtful counts nothing.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Final, NamedTuple

from kotef.checks.runner_summaries import SummaryCounts
from kotef.classification import plain_lines

_KINDS: Final[dict[str, str]] = {
    word: kind
    for kind, words in {
        "total": "total ran run runs executed conducted completed performed",
        "passed": "passed pass passes passing ok okay succeeded success successes successful",
        "failed": "failed fail fails failing failure failures error errors errored crashed",
        "skipped": "skipped skip skips ignored pending todo disabled",
    }.items()
    for word in words.split()
}
_UNITS: Final[dict[str, str]] = {
    word: unit
    for unit, words in {
        "tests": "test tests testcase testcases case cases subtest subtests spec specs example examples",
        "asserts": "assert asserts assertion assertions check checks",
        "suites": "suite suites file files module modules group groups program programs",
    }.items()
    for word in words.split()
}
_GLUE: Final = frozenset(
    {"of", "out", "and", "with", "all", "were", "in", "result", "results", "summary", "unit", "the"}
)
_TIME: Final = re.compile(
    r"[,;(\[]?\s*(?:(?:in|after|took)\s+|(?:time|duration|elapsed)\s*[:=]?\s*)?\d+(?:\.\d+)?\s*"
    r"(?:ns|µs|us|ms|msecs?|s|secs?|seconds?|minutes?|min)\b\.?\s*[)\]]?|\(?\d+(?:\.\d+)?\s?%\)?"
)
_TOKEN: Final = re.compile(r"\d+|[A-Za-z]+|/|[:=]|[^\w\s]")
_DECORATION: Final = frozenset("|,;.!()[]{}#*+-=:•✓✔✗✘×─│═║>")
_SIGNS: Final = _DECORATION | {"/"}
_WORDS: Final = frozenset({*_KINDS, *_UNITS, *_GLUE})
_LONGEST: Final = 160
_BLOCK: Final = 2
"""Lines between the counts of one summary that is printed one count a line."""


class Summary(NamedTuple):
    """What one summary counts; -1 where it does not say."""

    total: int = -1
    passed: int = -1
    failed: int = -1
    skipped: int = -1
    unit: str = ""

    @property
    def ran(self) -> int:
        """Tests that ran; -1 where the numbers disagree, or are not enough."""
        skipped = max(self.skipped, 0)
        if self.passed >= 0 and self.failed >= 0:
            ran = self.passed + self.failed
            return ran if self.total in {-1, ran, ran + skipped} else -1
        if self.total < 0:
            return -1
        if self.failed >= 0:
            return self.total if self.failed <= self.total else -1
        return self.total if self.passed >= 0 and self._rest >= 0 and not (self._rest and skipped) else -1

    @property
    def red(self) -> int:
        """Tests that failed, where `ran` is known."""
        return self.failed if self.failed >= 0 else self._rest

    @property
    def _rest(self) -> int:
        return self.total - self.passed


def summary_counts(output: str) -> SummaryCounts | None:
    """What the summaries of an output count together, else its numbered or marked lines; None if nothing is sure."""
    lines = plain_lines(output)
    whole = totalled(summaries(lines))
    if whole is None:
        ran, red, skipped = _numbered(lines) or _marked(lines), 0, 0
    else:
        ran, red, skipped = whole.ran, whole.red, max(whole.skipped, 0)
    return SummaryCounts(ran, red, ran - red, skipped) if ran else None


def summaries(lines: Iterable[str]) -> list[Summary]:
    """The summaries of an output whose numbers agree, each program's own, in the order of the output.

    Where a program counts tests and, apart from them, assertions or files, its tests are taken.
    """
    found: list[Summary] = []
    pending: list[tuple[int, Summary]] = []
    for number, line in enumerate(lines):
        part = _counts_of(line)
        if part is None:
            continue
        if pending and (number - pending[-1][0] > _BLOCK or not _joins(pending, part)):
            found += _joined(pending)
            pending = []
        pending.append((number, part))
    found += _joined(pending)
    found = [each for each in found if each.unit != "suites" or each.passed >= 0]  # `5 files, 0 errors` is a linter's
    best = min((_RANK.index(each.unit) for each in found), default=0)
    return [each for each in found if _RANK.index(each.unit) == best]


def totalled(found: Sequence[Summary]) -> Summary | None:
    """All summaries together, as of several programs; the last one alone where it is the sum of those before it."""
    if not found:
        return None
    *before, last = found
    ran, red = sum(each.ran for each in before), sum(each.red for each in before)
    is_sum = len(before) > 1 and (last.ran, last.red) == (ran, red)
    if is_sum or not before:
        return last
    skipped = sum(max(each.skipped, 0) for each in found)
    return Summary(total=ran + last.ran, failed=red + last.red, passed=ran + last.ran - red - last.red, skipped=skipped)


_RANK: Final[tuple[str, ...]] = ("tests", "", "asserts", "suites")


def _joins(pending: Sequence[tuple[int, Summary]], part: Summary) -> bool:
    """Whether a line continues with the summary above it: it counts something else, and of the same things."""
    above = [each for _, each in pending]
    named = {name for each in above for name in _named(each)}
    units = {each.unit for each in above if each.unit}
    return not named & set(_named(part)) and (not units or not part.unit or part.unit in units)


def _named(part: Summary) -> list[str]:
    return [name for name in ("total", "passed", "failed", "skipped") if getattr(part, name) >= 0]


def _joined(pending: Sequence[tuple[int, Summary]]) -> list[Summary]:
    """The lines of one block as a summary; none where its numbers do not agree."""
    if not pending:
        return []
    numbers = {name: getattr(part, name) for _, part in pending for name in _named(part)}
    unit: str = next((part.unit for _, part in pending if part.unit), "")
    summary = Summary(**numbers, unit=unit)
    return [summary] if summary.ran >= 0 else []


def _counts_of(line: str) -> Summary | None:
    """What a line counts that is made of counts and nothing else; None for any other line."""
    if len(line) > _LONGEST or not any(sign.isdigit() for sign in line):
        return None
    tokens = _TOKEN.findall(_TIME.sub(" ", line.lower()))

    words = {token for token in tokens if token.isalpha()}
    if not words or not words <= _WORDS:
        return None
    signs = {token for token in tokens if not token.isalnum()}
    if not signs <= _SIGNS:
        return None

    kept = [token for token in tokens if token.isalnum() or token == "/"]  # noqa: S105
    return _share(kept) or _each(kept)


def _share(tokens: Sequence[str]) -> Summary | None:
    """`12/12 tests passed`, `passed 12 of 12`; where some failed it is not known which number is which."""
    text = " ".join(token for token in tokens if token not in {"all", "were", "out", "the"})
    match = re.fullmatch(r"((?:[a-z]+ )*)(\d+) (?:[a-z]+ )?(?:/|of) (\d+)((?: [a-z]+)*)", text)
    if match is None:
        return None
    words = f"{match[1]} {match[4]} {text[match.end(2) : match.start(3)]}".split()
    kinds = {_KINDS[word] for word in words if word in _KINDS} - {"total"}
    if kinds != {"passed"} or int(match[2]) > int(match[3]):
        return None
    return Summary(total=int(match[3]), passed=int(match[2]), unit=_unit_of(words))


def _each(tokens: Sequence[str]) -> Summary | None:
    """`46 tests, 46 passed, 0 failed`, `Passed: 46`, `Tests failed: 0`: each number with the words beside it."""
    if re.search(r"\d / \d", " ".join(tokens)):
        return None
    groups = _groups([token for token in tokens if token != "/"])  # noqa: S105
    if groups is None:
        return None

    numbers: dict[str, int] = {}
    for number, words in groups:
        kind = _kind_of(words)
        is_second = kind in numbers and kind != "failed"  # failures and errors are counted apart
        if not kind or is_second:
            return None
        numbers[kind] = numbers.get(kind, 0) + number

    if "all" in tokens and set(numbers) == {"passed"}:
        numbers["total"] = numbers["passed"]
    return Summary(**numbers, unit=_unit_of(tokens)) if numbers else None


def _kind_of(words: Sequence[str]) -> str:
    """What the words beside a number count; empty where they name nothing, or several kinds."""
    kinds = {_KINDS[word] for word in words if word in _KINDS}
    if len(kinds) > 1:
        kinds.discard("total")
    if not kinds:
        return "total" if any(word in _UNITS for word in words) else ""
    return next(iter(kinds)) if len(kinds) == 1 else ""


def _groups(tokens: Sequence[str]) -> list[tuple[int, list[str]]] | None:
    """Each number with its words: those behind it where a number comes first, those before it where one comes last."""
    words = [token for token in tokens if token not in _GLUE]
    heading = 0
    if not words:
        return None
    first_number = next(at for at, token in enumerate(words) if token.isdigit()) if any(map(str.isdigit, words)) else -1
    if first_number < 0:
        return None
    behind = not words[-1].isdigit()
    if behind and first_number:  # `tests: 46 passed, 0 failed` has a heading
        if any(_KINDS.get(token, "total") != "total" for token in words[:first_number]):
            return None
        heading = first_number
    groups: list[tuple[int, list[str]]] = []
    beside: list[str] = []
    for token in words[heading:]:
        if not token.isdigit():
            (groups[-1][1] if behind else beside).append(token)
        else:
            groups.append((int(token), [] if behind else beside))
            beside = []
    return groups if groups and all(labels for _, labels in groups) else None


def _unit_of(words: Iterable[str]) -> str:
    units = [_UNITS[word] for word in words if word in _UNITS]
    return units[0] if units else ""


_NUMBERED: Final = re.compile(r"ok (\d+)\b.*")
_MARKED: Final = re.compile(r"\[? ?PASS(?:ED)? ?\]?[: -]+\S.*|\S.*(?:: | - | ?\.{2,} ?)PASS(?:ED)?!?")
_MARKED_RED: Final = re.compile(r"not ok\b.*|\[? ?FAIL(?:ED)? ?\]?[: -]+\S.*|\S.*(?:: | - | ?\.{2,} ?)FAIL(?:ED)?!?")


def _numbered(lines: Iterable[str]) -> int:
    """How many lines `ok 1`, `ok 2`, … there are; 0 if the row has a gap, or one is `not ok`."""
    if any(_MARKED_RED.fullmatch(line.strip()) for line in lines):
        return 0
    numbers = [int(match[1]) for line in lines if (match := _NUMBERED.fullmatch(line.strip()))]
    return len(numbers) if all(map(int.__eq__, numbers, count(1))) else 0


def _marked(lines: Iterable[str]) -> int:
    """How many lines say PASS of a name; 0 if there is one alone, or one says FAIL."""
    stripped = [line.strip() for line in lines]
    if any(map(_MARKED_RED.fullmatch, stripped)):
        return 0
    passed = sum(_MARKED.fullmatch(line) is not None for line in stripped)
    return passed if passed > 1 else 0
