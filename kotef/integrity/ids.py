"""Ids of tests, `place::part::name`: how each part is made one bounded line."""

import hashlib
import re
from collections import Counter
from typing import Final

MAX_NAME: Final = 400
"""Characters of one part of an id; a longer one ends in a mark that distinguishes it from others."""
_LAYOUT: Final = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\s]+")


def name_part(text: str) -> str:
    """One part of an id: one line, bounded."""
    flat = _LAYOUT.sub(" ", text).strip()
    if len(flat) <= MAX_NAME:
        return flat
    return f"{flat[:MAX_NAME]}…{hashlib.sha256(flat.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def test_id(*parts: str) -> str:
    """The id from its parts, without empty ones."""
    return "::".join(name_part(part) for part in parts if part)


def numbered(seen: Counter[str], test: str, mark: str = "({})") -> str:
    """The id, with a number appended from its second occurrence on."""
    seen[test] += 1
    return test if seen[test] == 1 else f"{test} {mark.format(seen[test])}"
