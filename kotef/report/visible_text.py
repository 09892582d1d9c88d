"""Characters of a report that a reader would not see, or that would steer a terminal, spelt out."""

from typing import Final

_HIDDEN: Final = {
    *range(0x09),
    *range(0x0B, 0x20),
    *range(0x7F, 0xA0),
    0x061C,
    *range(0x200B, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xD800, 0xE000),
}
_SHOWN: Final = {code: f"\\u{code:04x}" for code in _HIDDEN}


def visible_text(text: str) -> str:
    """The text with control and direction characters spelt out; line breaks and tabs stay."""
    return text.translate(_SHOWN)
