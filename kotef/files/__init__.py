"""Files below a folder in which others may plant links, pipes or devices; paths, and where kotef keeps its state."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.files.facts import facts_of, facts_within, is_folder, permissions_of
    from kotef.files.folder_copy import FolderCopy, note_own_write
    from kotef.files.globs import GlobError, matches_glob, matches_globs
    from kotef.files.paths import (
        append_line,
        at_home,
        granted,
        holds_secrets,
        home_relative,
        os_fault,
        remove_file,
        resolve_inside,
        state_dir,
        top_of,
        write_atomic,
        write_below,
    )
    from kotef.files.safe_open import (
        OPEN_FILE,
        TEMPORARY,
        Listed,
        append_if_size,
        append_within,
        chmod_within,
        directory_within,
        is_below,
        list_inside,
        list_within,
        make_folder_within,
        move_within,
        parent_within,
        read_inside,
        read_regular,
        read_within,
        regular_file_stat,
        remove_within,
        resolve_links,
        touch_within,
        walk_within,
        write_new,
        write_within,
    )
    from kotef.files.transfer import copy_in, copy_out, move_out
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "facts": "facts_of facts_within is_folder permissions_of",
            "folder_copy": "FolderCopy note_own_write",
            "globs": "GlobError matches_glob matches_globs",
            "paths": (
                "append_line at_home granted holds_secrets home_relative os_fault remove_file resolve_inside "
                "state_dir top_of write_atomic write_below"
            ),
            "safe_open": (
                "Listed OPEN_FILE TEMPORARY append_if_size append_within chmod_within directory_within "
                "is_below list_inside list_within make_folder_within move_within parent_within "
                "read_inside read_regular read_within regular_file_stat remove_within resolve_links "
                "touch_within walk_within write_new write_within"
            ),
            "transfer": "copy_in copy_out move_out",
        },
    )

__all__ = [
    "OPEN_FILE",
    "TEMPORARY",
    "FolderCopy",
    "GlobError",
    "Listed",
    "append_if_size",
    "append_line",
    "append_within",
    "at_home",
    "chmod_within",
    "copy_in",
    "copy_out",
    "directory_within",
    "facts_of",
    "facts_within",
    "granted",
    "holds_secrets",
    "home_relative",
    "is_below",
    "is_folder",
    "list_inside",
    "list_within",
    "make_folder_within",
    "matches_glob",
    "matches_globs",
    "move_out",
    "move_within",
    "note_own_write",
    "os_fault",
    "parent_within",
    "permissions_of",
    "read_inside",
    "read_regular",
    "read_within",
    "regular_file_stat",
    "remove_file",
    "remove_within",
    "resolve_inside",
    "resolve_links",
    "state_dir",
    "top_of",
    "touch_within",
    "walk_within",
    "write_atomic",
    "write_below",
    "write_new",
    "write_within",
]
