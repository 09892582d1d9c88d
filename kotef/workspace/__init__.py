"""The workspace as trees, what no tree holds, installed environments, and who may write now."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.workspace.activity import ActivityLog, Worker, activity_of
    from kotef.workspace.file_entry import EXECUTABLE, LINK, PLAIN, FileEntry, write_entry
    from kotef.workspace.file_swap_journal import (
        HIDDEN_FILES,
        SWAP_MARK,
        begin_file_swap,
        end_file_swap,
        move_to_run,
        unfinished_file_swaps,
    )
    from kotef.workspace.ignored_backup import BACKUP_LIMIT, copy_ignored, restore_ignored
    from kotef.workspace.installed_environments import (
        EnvironmentChanges,
        InstalledEnvironments,
        altered_environments,
        environment_around,
        find_environments,
        remember_environments,
        was_environment_link,
        written_environments,
    )
    from kotef.workspace.last_tree import changed_since_last_tree, forget_last_tree, note_last_tree, read_last_tree
    from kotef.workspace.lock import at_work, holder_of, workspace_lock
    from kotef.workspace.nested_repositories import repositories
    from kotef.workspace.process_tree import MARKER, ProcessTree, adopt_orphans, start_of
    from kotef.workspace.protected_environments import Environments
    from kotef.workspace.remainder import (
        Remainder,
        keep_remainder,
        new_or_changed_files,
        note_written_by_checks,
        read_remainder,
        remainder_folder,
    )
    from kotef.workspace.restoration import RestoreReason, RestoreReport, WorkspaceDifference, restore_remainder
    from kotef.workspace.snapshot_scope import LARGEST_FILE, REBUILT_FOLDERS, Listing, split_names
    from kotef.workspace.snapshots import Restored, Snapshots
    from kotef.workspace.untracked_scan import (
        IMPORTED_SUFFIXES,
        UntrackedFiles,
        change_time,
        read_untracked,
        remember_untracked,
        scan_untracked,
        steering_from_outside,
    )
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "activity": "ActivityLog Worker activity_of",
            "file_entry": "EXECUTABLE FileEntry LINK PLAIN write_entry",
            "file_swap_journal": (
                "HIDDEN_FILES SWAP_MARK begin_file_swap end_file_swap move_to_run unfinished_file_swaps"
            ),
            "ignored_backup": "BACKUP_LIMIT copy_ignored restore_ignored",
            "installed_environments": (
                "EnvironmentChanges InstalledEnvironments altered_environments environment_around "
                "find_environments remember_environments was_environment_link written_environments"
            ),
            "last_tree": "changed_since_last_tree forget_last_tree note_last_tree read_last_tree",
            "lock": "at_work holder_of workspace_lock",
            "nested_repositories": "repositories",
            "process_tree": "MARKER ProcessTree adopt_orphans start_of",
            "protected_environments": "Environments",
            "remainder": (
                "Remainder keep_remainder new_or_changed_files note_written_by_checks read_remainder remainder_folder"
            ),
            "restoration": "RestoreReason RestoreReport WorkspaceDifference restore_remainder",
            "snapshot_scope": "LARGEST_FILE Listing REBUILT_FOLDERS split_names",
            "snapshots": "Restored Snapshots",
            "untracked_scan": (
                "IMPORTED_SUFFIXES UntrackedFiles change_time read_untracked remember_untracked "
                "scan_untracked steering_from_outside"
            ),
        },
    )

__all__ = [
    "BACKUP_LIMIT",
    "EXECUTABLE",
    "HIDDEN_FILES",
    "IMPORTED_SUFFIXES",
    "LARGEST_FILE",
    "LINK",
    "MARKER",
    "PLAIN",
    "REBUILT_FOLDERS",
    "SWAP_MARK",
    "ActivityLog",
    "EnvironmentChanges",
    "Environments",
    "FileEntry",
    "InstalledEnvironments",
    "Listing",
    "ProcessTree",
    "Remainder",
    "RestoreReason",
    "RestoreReport",
    "Restored",
    "Snapshots",
    "UntrackedFiles",
    "Worker",
    "WorkspaceDifference",
    "activity_of",
    "adopt_orphans",
    "altered_environments",
    "at_work",
    "begin_file_swap",
    "change_time",
    "changed_since_last_tree",
    "copy_ignored",
    "end_file_swap",
    "environment_around",
    "find_environments",
    "forget_last_tree",
    "holder_of",
    "keep_remainder",
    "move_to_run",
    "new_or_changed_files",
    "note_last_tree",
    "note_written_by_checks",
    "read_last_tree",
    "read_remainder",
    "read_untracked",
    "remainder_folder",
    "remember_environments",
    "remember_untracked",
    "repositories",
    "restore_ignored",
    "restore_remainder",
    "scan_untracked",
    "split_names",
    "start_of",
    "steering_from_outside",
    "unfinished_file_swaps",
    "was_environment_link",
    "workspace_lock",
    "write_entry",
    "written_environments",
]
