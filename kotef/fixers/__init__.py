"""The coder without a model that follows the rules of linters, compilers and tracebacks."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.fixers.coder import FixersCoder
    from kotef.fixers.complaints import EXCEPTIONS, Complaint
    from kotef.fixers.source import PythonText
    from kotef.fixers.symbol_index import Project
    from kotef.fixers.table import FIXERS
    from kotef.fixers.types import Fixer, FixProposal
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "coder": "FixersCoder",
            "complaints": "EXCEPTIONS Complaint",
            "source": "PythonText",
            "symbol_index": "Project",
            "table": "FIXERS",
            "types": "FixProposal Fixer",
        },
    )

__all__ = [
    "EXCEPTIONS",
    "FIXERS",
    "Complaint",
    "FixProposal",
    "Fixer",
    "FixersCoder",
    "Project",
    "PythonText",
]
