"""The coder without a model that searches for a small edit."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.repair.coder import SearchCoder
    from kotef.repair.question import question_of
    from kotef.repair.search import repair
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "coder": "SearchCoder",
            "question": "question_of",
            "search": "repair",
        },
    )

__all__ = [
    "SearchCoder",
    "question_of",
    "repair",
]
