"""Facts about the text of a module: its tree, its line ends, and whether it looks at itself."""

import ast
import re
import warnings
from functools import lru_cache
from typing import Final

from kotef.source import LINE_END

_LOOKS: Final = re.compile(
    r"getsource|linecache|tokenize|co_consts|lineno|stacklevel|_getframe|currentframe"
    r"|open\(__file__|__file__\)?(?:\.resolve\(\))?\.read|__file__\W+[\"']r"
)


@lru_cache(maxsize=4)
def parsed(text: str) -> ast.Module | None:
    """The syntax tree of a module, kept for who asks again, so never to be changed; else as `parsed_once`."""
    return parsed_once(text)


def parsed_once(text: str) -> ast.Module | None:
    """The syntax tree of a module; None if it has none, or where the text warns of its own syntax."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def line_breaks(text: str) -> str:
    """The line ends in the text alone, so that what replaces it keeps the numbers of the lines below."""
    return "".join(LINE_END.findall(text))


def looks_at_itself(text: str) -> bool:
    """Whether a test looks at its own text or lines, so that every edit may show."""
    return _LOOKS.search(text) is not None
