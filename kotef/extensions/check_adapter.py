"""Checks that extensions add to those of the project."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final, get_args

from kotef.checks.projects import DetectedCheck
from kotef.checks.types import Check
from kotef.extensions.extension_set import ExtensionSet, LoadedExtension
from kotef.extensions.loader import failed, unusable
from kotef.extensions.seam import ProjectFiles
from kotef.shell import Role

MOST: Final = 20
"""Checks of one extension."""


def extension_checks(extensions: ExtensionSet, root: Path) -> tuple[Check, ...]:
    """The checks of all extensions for this workspace. ExtensionError where one of them fails."""
    return tuple(check for each in extensions.of_kind("check") for check in _checks(each, root))


def _checks(loaded: LoadedExtension, root: Path) -> Iterator[Check]:
    try:
        found = list(islice(loaded.target.checks(ProjectFiles(root)), MOST))
    except (Exception, SystemExit) as error:
        raise failed(loaded.extension, "failed", error) from error
    for each in found:
        if not _is_check(each):
            raise unusable(loaded.extension, "named something other than a DetectedCheck with name, command and role")
        source = ", ".join(text for text in (each.source, loaded.record.origin) if text)
        command = " ".join(each.command.split())
        yield Check(name=each.name, command=command, role=each.role, origin="extension", source=source)


def _is_check(found: object) -> bool:
    if not isinstance(found, DetectedCheck) or not all(isinstance(part, str) for part in found):
        return False
    is_line = bool(found.command.strip()) and "\0" not in found.command and len(found.command.splitlines()) == 1
    return is_line and bool(found.name.strip()) and found.role in get_args(Role)
