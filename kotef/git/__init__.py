"""git, asked without running anything that the repository configures; what commands do to it is put back."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.git.commands import GitFacts, git, git_error, inspect, run_git, toplevel
    from kotef.git.history import GitHistory
    from kotef.git.layout import OF_THE_TREE
    from kotef.git.objects import drop_kept_objects
    from kotef.git.patches import PatchChange, patch_changes, patched_tree
    from kotef.git.quoting import unquoted
    from kotef.git.signing import hooks_place, signing_settings
    from kotef.git.state import GitState, git_state
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "commands": "GitFacts git git_error inspect run_git toplevel",
            "history": "GitHistory",
            "layout": "OF_THE_TREE",
            "objects": "drop_kept_objects",
            "patches": "PatchChange patch_changes patched_tree",
            "quoting": "unquoted",
            "signing": "hooks_place signing_settings",
            "state": "GitState git_state",
        },
    )

__all__ = [
    "OF_THE_TREE",
    "GitFacts",
    "GitHistory",
    "GitState",
    "PatchChange",
    "drop_kept_objects",
    "git",
    "git_error",
    "git_state",
    "hooks_place",
    "inspect",
    "patch_changes",
    "patched_tree",
    "run_git",
    "signing_settings",
    "toplevel",
    "unquoted",
]
