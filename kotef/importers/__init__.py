"""Specs that were written for other tools, read as tickets."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.importers.document_names import CHECK_HEADINGS
    from kotef.importers.folders import Folder, foreign_folders, list_foreign, read_foreign, tick_foreign
    from kotef.importers.github_issue import MAX_ISSUE, read_issue, with_commands
    from kotef.importers.spec import ForeignSpec, progress_text, task_named, ticket_from
    from kotef.importers.spec_kit import NEEDS_CLARIFICATION
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "document_names": "CHECK_HEADINGS",
            "folders": "Folder foreign_folders list_foreign read_foreign tick_foreign",
            "github_issue": "MAX_ISSUE read_issue with_commands",
            "spec": "ForeignSpec progress_text task_named ticket_from",
            "spec_kit": "NEEDS_CLARIFICATION",
        },
    )

__all__ = [
    "CHECK_HEADINGS",
    "MAX_ISSUE",
    "NEEDS_CLARIFICATION",
    "Folder",
    "ForeignSpec",
    "foreign_folders",
    "list_foreign",
    "progress_text",
    "read_foreign",
    "read_issue",
    "task_named",
    "tick_foreign",
    "ticket_from",
    "with_commands",
]
