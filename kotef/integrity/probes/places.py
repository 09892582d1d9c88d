"""File of a test, from its id, and the tests of a tree whose runner lists none."""

import re
from collections.abc import Callable, Collection
from typing import Final

from kotef.integrity.protected_files import is_test_code

_TITLE: Final = re.compile(r"^(?:test|it)\(\s*[\"']([^\"'\\\n]+)[\"']", re.MULTILINE)
_DEFINED: Final = {
    ".rs": re.compile(r"#\[(?:\w+::)*test\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)"),
    ".go": re.compile(r"^func (Test\w+)\(", re.MULTILINE),
    ".py": re.compile(r"^(?:async )?def (test\w*)\(", re.MULTILINE),
    ".java": re.compile(r"@Test\b[^{;]*?\bvoid\s+(\w+)\("),
    ".kt": re.compile(r"@Test\b[^{;]*?\bfun\s+(\w+)\("),
    **dict.fromkeys((".js", ".cjs", ".mjs", ".ts"), _TITLE),
    **dict.fromkeys((".c", ".cc", ".cpp"), re.compile(r"^int (main)\(", re.MULTILINE)),
}
"""By the end of a path: how a test begins, with its name."""
_PROGRAM: Final = re.compile(r"(?i)(?:^|[/_-])tests?(?:[_-][^/]*)?\.(?:c|cc|cpp|cxx)$")
"""Programs of C that are tests by their name."""
_MOST: Final = 400
"""Files that are looked into."""


def may_test(path: str) -> bool:
    """Whether a file holds tests by its name."""
    return is_test_code(path) or path.endswith("_test.go") or _PROGRAM.search(path) is not None


def defined_tests(paths: Collection[str], read: Callable[[str], bytes | None]) -> list[str]:
    """Ids of tests as files define them, for checks whose runner tells no names; whether they are run is not known."""
    found: list[str] = []
    for path in sorted(paths)[: _MOST * 10]:
        begins = next((begins for end, begins in _DEFINED.items() if path.endswith(end)), None)
        if begins is None or not (may_test(path) or path.endswith(".rs")):
            continue
        text = (read(path) or b"").decode("utf-8", "replace")
        found += [f"{path}::{name}" for name in begins.findall(text)]
        if len(found) > _MOST:
            break
    return found


def file_of_test(test: str, paths: Collection[str], read: Callable[[str], bytes | None]) -> str | None:
    """The file of the workspace that holds the test; None if none, or more than one, does.

    The place in an id is a file, a folder (Go), or something else; then it is the one file among the tests that holds
    the name as a word.
    """
    place, _, rest = test.partition("::")
    if place in paths:
        return place

    name = re.split(r"::|/", rest)[0] if rest else re.split(r"[.:#/ ]+", test)[-1]
    word = re.compile(rb"(?<!\w)" + re.escape(name).encode() + rb"(?!\w)")
    near = _files_in(place, paths) if rest else []
    candidates = [path for path in (near or sorted(paths)) if may_test(path)]
    found = [path for path in candidates[:_MOST] if word.search(read(path) or b"")]
    return found[0] if len(found) == 1 else None


def _files_in(folder: str, paths: Collection[str]) -> list[str]:
    """The files of a folder, without those of folders in it."""
    below = [path for path in paths if path.startswith(f"{folder}/")]
    return [path for path in below if "/" not in path[len(folder) + 1 :]]
