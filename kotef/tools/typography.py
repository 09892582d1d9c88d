"""Typographic characters that an editor or a model writes for plain ones, and lines compared without them."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

FOLDED: Final = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟″", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys(
            "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000", " "
        ),
    }
)
"""One character for one: what an editor or a model writes for another."""


def folded(line: str) -> str:
    """The line with plain characters, without white space at its ends."""
    return line.translate(FOLDED).strip()


def slips(text: str, pairs: Iterable[tuple[str, str]]) -> dict[int, str]:
    """Typographic characters of the block for which the file has plain ones (pairs of lines: file, block).

    Who writes one of them instead of a plain one does so with the others too: with those that the text never has.
    """
    found = {
        (ord(wrote), plain)
        for ours, theirs in pairs
        if ours != theirs and len(ours) == len(theirs)
        for plain, wrote in zip(ours, theirs, strict=True)
        if plain != wrote and plain.isascii()
    }
    table = dict(found)
    if not table or len(table) < len(found):
        return {}
    return {wrote: plain for wrote, plain in FOLDED.items() if chr(wrote) not in text} | table


def carried(have: str, wanted: str, new: str) -> str:
    """The new line, with the file's characters where it did not change the searched ones."""
    ours, theirs, put = have.strip(), wanted.strip(), new.strip()
    if ours == theirs or len(ours) != len(theirs):
        return new
    parts = [
        ours[low:high] if tag == "equal" else put[first:last]
        for tag, low, high, first, last in SequenceMatcher(None, theirs, put, autojunk=False).get_opcodes()
    ]
    return new[: len(new) - len(new.lstrip())] + "".join(parts)
