"""Summaries of failures in one to three lines."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from kotef.classification.kinds import MAX_SUMMARY
from kotef.classification.output_lines import Output
from kotef.classification.test_failures import FailingTest

MAX_FIRST: Final = 150
MAX_SECOND: Final = 190
ELLIPSIS: Final = "…"

NOISE: Final = re.compile(
    r"make(?:\[\d+\])?: |npm (?:error|ERR!|notice)| ?ELIFECYCLE|error Command failed with exit code|info Visit https"
    r"|error: script \"|error: Recipe |ninja: build stopped|BUILD FAILED|FAILURE: Build failed|BUILD SUCCESSFUL in"
    r"|\[INFO\]|\[ERROR\] (?:\[Help|To see|Re-run|For more)|\[ERROR\]\s*$|Node\.js v\d|> \S+(?:@\S+ \S+)?$"
    r"|npm error A complete log|Execution halted$|\(See full trace|\s+at \S.*:\d+:\d+\)?$|\W*$"
    r"|note: run with `RUST_BACKTRACE|[-=_~*#─⎯ ]*$|\s*\^[\^~ ]*$"
    r"|Cleaning up|Finished: [A-Z]+$|Done\. Your build exited with|Post job cleanup|Terminate orphan process"
    r"|##\[(?:end)?group\]|##\[error\]Process completed with|The command \".*\" exited with"
    r"|travis_|Job (?:failed|succeeded)\b"
    r"|ERROR: Job failed: |Unsuccessful task run|Your build has been stopped|\[Pipeline\]|Build step .* marked build as"
    r"|\[(?:taskcluster|command)\b"
)
"""Lines of wrappers, rulers and carets: they say that something failed, not what."""


FATAL: Final = re.compile(r"(?:[\w./-]{1,60}: )?(?:fatal|Fatal|FATAL|fatal error)[: ]")
ERROR_LINE: Final = re.compile(
    r"\s{0,4}(?:\S{1,60}: )?(?:##\[error\]|\[(?i:error)\] ?(?=[^\s>|])|\[(?i:fatal)\]"
    r"|(?i:fatal(?: error)?|error)(?:\[\w+\])?: (?=\S)|ERROR (?=\w)|E: (?=\w)"
    r"|✘ |✖ |[×x] (?=[A-Z])|(?i:(?:fatal )?error):$)"
)
"""How a line begins in which a tool says what went wrong; later lines tell what came of it."""
BARE_ERROR: Final = re.compile(r"\s{0,4}(?i:(?:fatal )?error):$")
"""The same where the next line says what."""


def summary(lines: Iterable[str]) -> str:
    """At most three lines and 400 characters: the first is the headline, each is cut rather than dropped."""
    texts = [" ".join(line.split()) for line in lines]
    kept = list(dict.fromkeys(line for line in texts if line))[:3]
    if len(kept) == 1:
        return cut_line(kept[0], MAX_SUMMARY)
    first, second = (
        cut_line(line, limit) for line, limit in zip([*kept, "", ""], (MAX_FIRST, MAX_SECOND), strict=False)
    )
    rest = MAX_SUMMARY - len(first) - len(second) - 2
    return "\n".join(line for line in (first, second, *(cut_line(line, rest) for line in kept[2:])) if line)


def cut_line(line: str, limit: int) -> str:
    """The line, or its beginning with an ellipsis."""
    return line if len(line) <= limit else line[: limit - 1].rstrip() + ELLIPSIS


def of_tests(failing: Sequence[FailingTest]) -> tuple[str, ...]:
    """The first failing test with its place, its error, and how many more there are."""
    first = next((test for test in failing if test.error), failing[0])
    others = [test.name for test in failing if test is not first]
    more = f"and {len(others)} more: {', '.join(others[:3])}" if others else ""
    return f"{_tail(first.name)}{_at(first.places, first.name)}", first.error, more


def _tail(name: str) -> str:
    """A long id keeps its end, where the test's own name stands."""
    return name if len(name) <= 90 else ELLIPSIS + name[-89:]  # noqa: PLR2004 - leaves room for the place


def _at(places: Sequence[str], name: str) -> str:
    """The test's own line and, if it is another one, the line that raised."""
    if not places:
        return ""
    file = name.partition("::")[0]
    own = next((place for place in places if file and place.startswith(f"{file}:")), places[0])
    ends = dict.fromkeys((own, places[-1] if own == places[0] else places[0]))
    return f" ({', '.join(ends)})"


def of_crash(error: str, places: Sequence[str], *, innermost_last: bool) -> tuple[str, ...]:
    """The error, and the project's line that raised it."""
    ordered = list(reversed(places)) if innermost_last else list(places)
    return (error, f"at {ordered[0]}" if ordered else "")


def first_error(output: Output) -> str:
    """The first line that is marked as an error, of stderr before stdout; empty if there is none."""
    lines = (*output.stderr, *output.stdout)
    marked = next((at for at, line in enumerate(lines) if ERROR_LINE.match(line) and not NOISE.match(line)), None)
    if marked is None:
        return ""
    below = next((line.strip() for line in lines[marked + 1 :] if line.strip()), "")
    return f"{lines[marked].strip()} {below}" if BARE_ERROR.match(lines[marked]) else lines[marked].strip()


def last_words(output: Output) -> tuple[str, ...]:
    """What is marked as an error, else the last telling line of each stream; a wrapper's only if there is none."""
    fatal = next((line for line in output.stderr if FATAL.match(line)), "")
    marked = fatal or first_error(output)
    candidates = [marked, _last(output.stderr), _last(output.stdout)]
    noise = [_last_of_any(output.stderr), _last_of_any(output.stdout)]
    return tuple(dict.fromkeys(line.strip() for line in (*candidates, *noise) if line))


def _last(lines: Sequence[str]) -> str:
    return next((line for line in reversed(lines) if line.strip() and not NOISE.match(line)), "")


def _last_of_any(lines: Sequence[str]) -> str:
    return next((line for line in reversed(lines) if line.strip()), "")
