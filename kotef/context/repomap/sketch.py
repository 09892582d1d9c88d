"""A fast sketch of the names that a source file defines and uses."""

from typing import Final, NamedTuple

from kotef.context.repomap.languages import Language

_SPACED: Final = bytes(code if chr(code).isalnum() or code in b"_" or code >= 0x80 else 0x20 for code in range(256))  # noqa: PLR2004  not ASCII: part of a name in UTF-8
"""Turns whatever is not a part of a name into a space."""


class Sketch(NamedTuple):
    """One file in the roughest outline; names are separated by spaces, in no order, each is there once."""

    defines: str
    uses: str
    """Every word of the file, comments and the names it defines included."""


def sketch(content: bytes, language: Language) -> Sketch:
    """The outline of a file's bytes, in linear time; a name is a word in code, a comment or a string alike."""
    found = language.lines.findall(b"\n" + content)
    if language.lines.groups > 1:
        found = [next(filter(None, groups)) for groups in found]
    return Sketch(_joined(set(found)), _joined(set(content.translate(_SPACED).split())))


def _joined(names: set[bytes]) -> str:
    return b" ".join(names).decode("utf-8", "replace")
