"""Web access for a model: pages of the open internet, and nothing else."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.web.fetch import Web
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "fetch": "Web",
        },
    )

__all__ = [
    "Web",
]
