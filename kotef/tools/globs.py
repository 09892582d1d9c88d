"""Does a path match a glob?"""

import posixpath
import re
from functools import cache
from typing import Final

_TOKEN: Final = re.compile(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^]]*\]|[{},]|[^*?\[{},]+|\[")
_MEANING: Final = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")"}


def matches(name: str, glob: str) -> bool:
    """Whether a relative path matches; a glob without `/` is compared with the last part of the path.

    `*` and `?` stay within one part, `**` spans parts, `[…]` and `{a,b}` as in a shell. A glob with a bracket that
    makes no sense matches only itself.
    """
    plain = glob.removeprefix("./")
    return _pattern(plain).fullmatch(name if "/" in plain else posixpath.basename(name)) is not None


@cache
def _pattern(glob: str) -> re.Pattern[str]:
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
        return re.compile("".join(parts), re.DOTALL)
    except (re.error, RecursionError):
        return re.compile(re.escape(glob))
