"""Extensions: tools, checks, fixers, coders and guards of other distributions, registered by entry points."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.extensions.check_adapter import extension_checks
    from kotef.extensions.coder_adapter import ExtensionCoder
    from kotef.extensions.discovery import installed_extensions
    from kotef.extensions.extension_set import ExtensionSet, is_fatal, load_extensions, open_extension
    from kotef.extensions.fixer_adapter import fixer_rows
    from kotef.extensions.guard_adapter import guard_rules
    from kotef.extensions.seam import (
        SEAM,
        CheckExtension,
        CoderExtension,
        CoderTask,
        CommandOutput,
        Complaint,
        DetectedCheck,
        ExtensionWorkspace,
        FixerExtension,
        FixProposal,
        GuardedCall,
        GuardExtension,
        Project,
        ProjectFiles,
        PythonText,
        RefusalError,
        SourceEdit,
        ToolExtension,
    )
    from kotef.extensions.selection import ExtensionSettings, SelectedExtension
    from kotef.extensions.tool_adapter import tool_rows
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "check_adapter": "extension_checks",
            "coder_adapter": "ExtensionCoder",
            "extension_set": "ExtensionSet is_fatal load_extensions open_extension",
            "fixer_adapter": "fixer_rows",
            "guard_adapter": "guard_rules",
            "discovery": "installed_extensions",
            "seam": "SEAM CheckExtension CoderExtension CoderTask CommandOutput Complaint DetectedCheck "
            "ExtensionWorkspace FixProposal FixerExtension GuardExtension GuardedCall Project ProjectFiles PythonText "
            "RefusalError SourceEdit ToolExtension",
            "selection": "ExtensionSettings SelectedExtension",
            "tool_adapter": "tool_rows",
        },
    )

__all__ = [
    "SEAM",
    "CheckExtension",
    "CoderExtension",
    "CoderTask",
    "CommandOutput",
    "Complaint",
    "DetectedCheck",
    "ExtensionCoder",
    "ExtensionSet",
    "ExtensionSettings",
    "ExtensionWorkspace",
    "FixProposal",
    "FixerExtension",
    "GuardExtension",
    "GuardedCall",
    "Project",
    "ProjectFiles",
    "PythonText",
    "RefusalError",
    "SelectedExtension",
    "SourceEdit",
    "ToolExtension",
    "extension_checks",
    "fixer_rows",
    "guard_rules",
    "installed_extensions",
    "is_fatal",
    "load_extensions",
    "open_extension",
    "tool_rows",
]
