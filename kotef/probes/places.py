"""File of a test, from its id."""

import re
from collections.abc import Callable, Collection
from typing import Final

from kotef.checks.protected import is_test_code

_MOST: Final = 400
"""Files that are looked into."""


def file_of(test: str, paths: Collection[str], read: Callable[[str], bytes | None]) -> str | None:
    """The file of the workspace that holds the test; None where none, or more than one, does.

    The place in an id is a file, a folder (Go), or something else; then it is the one file among the tests that holds
    the name as a word.
    """
    place, _, rest = test.partition("::")
    if place in paths:
        return place
    name = re.split(r"::|/", rest)[0] if rest else re.split(r"[.:#/ ]+", test)[-1]
    word = re.compile(rb"(?<!\w)" + re.escape(name).encode() + rb"(?!\w)")
    below = [path for path in paths if path.startswith(f"{place}/")] if rest else []
    near = [path for path in below if "/" not in path[len(place) + 1 :]] if below else []
    candidates = [path for path in (near or sorted(paths)) if is_test_code(path) or path.endswith("_test.go")]
    found = [path for path in candidates[:_MOST] if word.search(read(path) or b"")]
    return found[0] if len(found) == 1 else None
