"""Spans for OpenTelemetry, and what goes to LangSmith, without secrets."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.telemetry.langsmith import hide_secrets, leaves, traced_by
    from kotef.telemetry.setup import observed, told_to_langsmith
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "langsmith": "hide_secrets leaves traced_by",
            "setup": "observed told_to_langsmith",
        },
    )

__all__ = [
    "hide_secrets",
    "leaves",
    "observed",
    "told_to_langsmith",
    "traced_by",
]
