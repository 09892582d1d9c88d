"""Test ids that contain a time, an address or a random number, and so differ from run to run."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

_VOLATILE: Final = re.compile(
    r"0x[0-9a-fA-F]{6,}"
    r"|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|(?=\d(?:\D{0,3}\d){5})\d[\dT:./+ -]{4,}\d(?:Z|(?i: ?[ap]m))?"
    r"|(?<![\w])/(?:tmp|var/folders)/[\w./-]+"
)
"""Addresses, UUIDs, dates, times and long numbers, temporary paths."""


def renamed(now: Iterable[str], known: Iterable[str]) -> Mapping[str, str]:
    """For each id that was not known, the known one that is gone and differs from it only in such a part.

    In the order of the report; only where as many of one form are gone as have come.
    """
    listed, before = list(now), list(known)
    here, there = set(listed), set(before)
    gone, come = _by_form(test for test in before if test not in here), _by_form(t for t in listed if t not in there)
    return {
        new: old
        for form, tests in come.items()
        if len(tests) == len(gone.get(form, ()))
        for new, old in zip(tests, gone[form], strict=True)
    }


def _by_form(tests: Iterable[str]) -> Mapping[str, list[str]]:
    """The ids with such a part, by what is left of them without it."""
    found: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        form = _VOLATILE.sub("\0", test)
        if form != test:
            found[form].append(test)
    return found
