"""Quotes that git puts around a path with special characters, in the headers of a patch."""

import re
from typing import Final

_ESCAPED: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS: Final = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


def unquoted(path: str) -> str:
    """The path without quotes and escapes; bytes that are no UTF-8 become U+FFFD. One without quotes stays."""
    if len(path) < 2 or not (path.startswith('"') and path.endswith('"')):  # noqa: PLR2004 - two quotes
        return path
    inner = path[1:-1].encode("utf-8", "surrogateescape")
    return _ESCAPED.sub(lambda found: _byte(found[1]), inner).decode("utf-8", "replace")


def _byte(escaped: bytes) -> bytes:
    if escaped.isdigit() and len(escaped) == 3:  # noqa: PLR2004 - git writes three octal digits
        return bytes((int(escaped, 8) & 0xFF,))
    return _LETTERS.get(escaped, escaped)
