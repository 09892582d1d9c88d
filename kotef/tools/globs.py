"""Matching of paths against globs."""

import posixpath
import re
from functools import cache
from typing import Any, Final

MAX_GLOB: Final = 500
"""Characters of the longest glob."""
_SECONDS: Final = 0.5
"""Wall seconds one name is compared; with many stars there are more ways to match than could ever be tried."""

_TOKEN: Final = re.compile(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^]]*\]|[{},]|[^*?\[{},]+|\[")
_MEANING: Final = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")"}


class GlobError(Exception):
    """A glob that is not matched; the message says why."""


def matches(name: str, glob: str) -> bool:
    """Whether a relative path matches; a glob without `/` is compared with the last part of the path.

    `*` and `?` stay within one part, `**` spans parts, `[…]` and `{a,b}` as in a shell. A glob with a bracket that
    makes no sense matches only itself. Raises `GlobError` for one that is too long or takes too long.
    """
    if len(glob) > MAX_GLOB:
        raise GlobError(f"a glob of {len(glob)} characters is none; at most {MAX_GLOB} are compared")
    plain = glob.removeprefix("./")
    try:
        found = _pattern(plain).fullmatch(name if "/" in plain else posixpath.basename(name), timeout=_SECONDS)
    except TimeoutError as error:
        raise GlobError("the glob takes too long; use one with fewer stars") from error
    return found is not None


@cache
def _pattern(glob: str) -> Any:
    import regex  # type: ignore[import-untyped]  # for its time limit: `re` cannot be stopped where a pattern explodes

    parts, depth = list[str](), 0
    for part in _TOKEN.findall(glob):
        depth += {"{": 1, "}": -1}.get(part, 0)
        if part == ",":
            parts.append("|" if depth else ",")
        elif part.startswith("[") and len(part) > 1:
            inner = part[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            parts.append(f"[^{inner[1:]}]" if inner[0] in "!^" else f"[{inner}]")
        else:
            parts.append(_MEANING.get(part) or re.escape(part))
    try:
        return regex.compile("".join(parts), regex.DOTALL)
    except (regex.error, RecursionError):
        return regex.compile(re.escape(glob))
