"""The coder without a model that follows the rules of linters, compilers and tracebacks."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.fixers.coder import FixersCoder
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "coder": "FixersCoder",
        },
    )

__all__ = [
    "FixersCoder",
]
