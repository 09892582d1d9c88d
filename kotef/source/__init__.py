"""Source files as text: edits that keep the rest byte for byte, and the scopes of a Python file."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.source.scopes import Function, Scopes, bound_by, parents_of
    from kotef.source.text import LINE, LINE_END, SourceEdit, SourceText, TextEdit, edited_text
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "scopes": "Function Scopes bound_by parents_of",
            "text": "LINE LINE_END SourceEdit SourceText TextEdit edited_text",
        },
    )

__all__ = [
    "LINE",
    "LINE_END",
    "Function",
    "Scopes",
    "SourceEdit",
    "SourceText",
    "TextEdit",
    "bound_by",
    "edited_text",
    "parents_of",
]
