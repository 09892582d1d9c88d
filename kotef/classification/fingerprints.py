# ruff: noqa: E501 - a row of a table is one line, so that columns can be compared
"""Fingerprints that recognise the same failure again."""

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from typing import Final

MAX_ESSENCE: Final = 200

# Each row: what varies between two runs of the same failure, and what is in its place. Order matters:
# longer shapes first. Every pattern is linear: bounded repeats or possessive ones, no nested quantifier.
VARYING: Final[tuple[tuple[str, str], ...]] = (
    # times of day and dates, ISO 8601 and log styles
    (r"\d{4}-\d\d-\d\d(?:[T _]\d\d[:_]\d\d(?:[:_]\d\d)?(?:[.,_]\d{1,9})?(?: ?[+-]\d\d:?\d\d|Z)?)?", "<time>"),
    (r"\b\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\b", "<time>"),
    # UUIDs; object addresses; long hexadecimal ids (hashes, containers)
    (r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b", "<uuid>"),
    (r"\b0x[0-9a-fA-F]{4,16}\b", "<address>"),
    (r"\b(?=[0-9a-f]{0,63}\d)(?=[0-9a-f]{0,63}[a-f])[0-9a-f]{12,64}\b", "<hex>"),
    # numbers too long to be a value someone wrote: seconds since 1970, process-wide ids
    (r"\b\d{9,30}(?:\.\d{1,12})?\b", "<n>"),
    # absolute paths: the last part stays if it is a file, for directories differ between machines and runs
    (r"(?:\bfile://|(?<![\w.:/\\~-]))(?:~|[A-Za-z]:)?(?:[\\/][\w.@+=~-]++)*[\\/]([\w.@+=~-]{1,200}\.\w{1,8})(?![\w/\\])", r"\1"),
    (r"(?:\bfile://|(?<![\w.:/\\~<-]))(?:~|[A-Za-z]:)?(?:[\\/][\w.@+=~-]++){2,40}[\\/]?", "<path>"),
    # places in a file; the gutter of quoted source
    (r"(?m)^[ >]{0,8}\d{1,7} ?(?=[|│])", ""),
    (r"(\.\w{1,8}|file|>):\d+(?::\d+)?", r"\1"),
    (r"(\.\w{1,8})\[\d+(?:,\d+)?\]|(\.\w{1,8})\(\d+(?:,\d+)?\)|(\.\w{1,8}):\[\d+(?:,\d+)?\]", r"\1\2\3"),
    (r"\b([Ll]ines?|[Cc]ol(?:umn)?|char|position|offset|at) \(?\d+(?:[-:,]\d+)?\)?", r"\1"),
    (r"\(\d+:\d+\)", "()"),
    # durations
    (r"\b\d+(?:[.,]\d+)? ?(?:[mµun]?s|secs?|seconds?|ms|minutes?|mins?|hours?)\b", "<duration>"),
    # processes, threads, seeds, ports, jobs
    (r"\b([Pp][Ii][Dd]|[Pp]rocess|[Tt]hread|[Ss]eed|[Pp]ort|goroutine|gw|job|worker|random_state)([ =:#-]{0,3})\d+", r"\1\2<n>"),
    (r"(\bthread '[^'\n]{1,200}') \(\d+\)", r"\1"),
    (r"(localhost|\d{1,3}(?:\.\d{1,3}){3}|\[::1?\]):\d{2,5}\b", r"\1:<port>"),
    (r"==\d+==", "==<n>=="),
    # temporary names
    (r"\btmp[\w-]{6,20}\b", "<tmp>"),
)  # fmt: skip


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], str], ...]:
    """The patterns, compiled at first use."""
    return tuple((re.compile(pattern), put) for pattern, put in VARYING)


def normalise(text: str) -> str:
    """`text` without what varies between two runs of the same thing: places, directories, times, addresses, ids.

    Values that a program computed stay: `assert 3 == 2` and `assert 4 == 2` are two failures.
    """
    for pattern, put in _compiled():
        text = pattern.sub(put, text)
    return " ".join(text.split())


def fingerprint(kind: str, detail: str, essence: Iterable[str]) -> str:
    """Twelve hexadecimal digits, equal for the same failure; the order of `essence` and repetitions do not count."""
    parts = sorted({normalise(part) for part in essence})[:MAX_ESSENCE]
    return hashlib.sha256("\0".join((kind, detail, *parts)).encode("utf-8", "replace")).hexdigest()[:12]
