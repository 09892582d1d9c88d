"""The extensions of one run, loaded and looked at before anything of the run begins."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from kotef.errors import ExtensionError, UsageError
from kotef.extensions.discovery import InstalledExtension, installed_extensions
from kotef.extensions.loader import failed, load, unusable
from kotef.extensions.selection import ExtensionSettings, SelectedExtension
from kotef.state import ActiveExtension, ExtensionKind

_REQUIRED: Final[frozenset[ExtensionKind]] = frozenset({"check", "guard"})
"""Without one of these a run would be judged, or held, less strictly than its user expects: it does not begin."""


class LoadedExtension(NamedTuple):
    """An extension, and the object that it consists of."""

    extension: InstalledExtension
    target: Any

    @property
    def record(self) -> ActiveExtension:
        """What it is and where it comes from."""
        return self.extension.record


@dataclass(frozen=True, slots=True)
class ExtensionSet:
    """The extensions of a run."""

    loaded: tuple[LoadedExtension, ...] = ()
    notices: tuple[str, ...] = ()
    """A line for each that is left out because it cannot be used."""

    @property
    def records(self) -> tuple[ActiveExtension, ...]:
        """What each is and where it comes from."""
        return tuple(each.record for each in self.loaded)

    def of_kind(self, kind: ExtensionKind) -> tuple[LoadedExtension, ...]:
        """Those of one kind."""
        return tuple(each for each in self.loaded if each.record.kind == kind)

    def names(self, kind: ExtensionKind) -> tuple[str, ...]:
        """The names of those of one kind."""
        return tuple(each.record.name for each in self.of_kind(kind))


def load_extensions(
    root: Path, settings: ExtensionSettings, *, kinds: frozenset[ExtensionKind] = frozenset()
) -> ExtensionSet:
    """The extensions that the settings switch on, of these kinds where there are any.

    One that cannot be used is left out with a notice. It is an error instead (ExtensionError) where someone named it,
    and for a guard or a check. Raises UsageError for a name that is not installed.
    """
    loaded: list[LoadedExtension] = []
    notices: list[str] = []
    found = installed_extensions(root)
    if absent := settings.absent(found):
        raise UsageError(absent, hint="install it there, or take its name out; `kotef doctor` lists them")
    for each in settings.select(found):
        if not each.is_on or (kinds and each.extension.record.kind not in kinds):
            continue
        try:
            loaded.append(open_extension(each.extension, root))
        except ExtensionError as error:
            if is_fatal(each):
                raise
            notices.append(f"{error}; it is left out")
    return ExtensionSet(tuple(loaded), tuple(notices))


def is_fatal(selected: SelectedExtension) -> bool:
    """Whether a run that asks for this extension does not begin without it."""
    record = selected.extension.record
    return selected.named or (record.kind in _REQUIRED and not selected.extension.in_workspace)


def open_extension(extension: InstalledExtension, root: Path) -> LoadedExtension:
    """The extension, loaded, with everything that its kind needs. Raises ExtensionError."""
    if extension.problem:
        raise unusable(extension, f"cannot be used: {extension.problem}")
    target = load(extension, root)
    try:
        missing = next(_MISSING[extension.record.kind](target), "")
    except (Exception, SystemExit) as error:
        raise failed(extension, "cannot be used", error) from error
    if missing:
        raise unusable(extension, missing)
    return LoadedExtension(extension, target)


def _missing_in_tool(target: Any) -> Iterator[str]:
    description, arguments = getattr(target, "description", None), getattr(target, "arguments", None)
    if not isinstance(description, str) or not description.strip():
        yield "has no `description`, a text"
    if not (isinstance(arguments, type) and issubclass(arguments, BaseModel)):
        yield "has no `arguments`, a class of pydantic's BaseModel"
    else:
        arguments.model_json_schema()  # raises for arguments that no model can be told of
    if not isinstance(getattr(target, "changes", None), bool):
        yield "has no `changes`, True or False"
    if not inspect.iscoroutinefunction(getattr(target, "call", None)):
        yield "has no `async def call(self, workspace, arguments)`"


def _missing_in_guard(target: Any) -> Iterator[str]:
    yield from _missing_function(target, "refusal(self, call)", "refusal")


def _missing_in_check(target: Any) -> Iterator[str]:
    yield from _missing_function(target, "checks(self, files)", "checks")


def _missing_in_fixer(target: Any) -> Iterator[str]:
    from kotef.fixers import EXCEPTIONS

    yield from _missing_function(target, "propose(self, complaint, project)", "propose")
    errors = getattr(target, "errors", None)
    names = () if isinstance(errors, str) else tuple(errors or ())
    if not names:
        yield "has no `errors`, names of exceptions"
    if unknown := [str(name) for name in names if name not in EXCEPTIONS]:
        yield f"names {', '.join(unknown)} in `errors`, but fixers handle only {', '.join(EXCEPTIONS)}"


def _missing_in_coder(target: Any) -> Iterator[str]:
    yield from _missing_function(target, "declines(self, task)", "declines")
    if not inspect.iscoroutinefunction(getattr(target, "work", None)):
        yield "has no `async def work(self, task)`"


def _missing_function(target: Any, signature: str, name: str) -> Iterator[str]:
    function = getattr(target, name, None)
    if not callable(function) or inspect.iscoroutinefunction(function):
        yield f"has no `def {signature}`"


_MISSING: Final[Mapping[ExtensionKind, Callable[[Any], Iterator[str]]]] = {
    "check": _missing_in_check,
    "coder": _missing_in_coder,
    "fixer": _missing_in_fixer,
    "guard": _missing_in_guard,
    "tool": _missing_in_tool,
}
