"""Selection of the extensions that are active in a run, by the settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from kotef.extensions.discovery import InstalledExtension

ALL: Final = "all"
"""In place of names: every one that is installed."""


class SelectedExtension(NamedTuple):
    """An installed extension, and whether the settings switch it on."""

    extension: "InstalledExtension"
    is_on: bool
    named: bool
    """Whether someone named it, so that its absence is an error."""


@dataclass(frozen=True, slots=True)
class ExtensionSettings:
    """Which extensions are to be active; a name is that of an extension or of its distribution."""

    enable: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    """Goes before `enable`."""

    @property
    def named(self) -> tuple[str, ...]:
        """The names that someone gave."""
        return tuple(name for name in self.enable if name != ALL)

    def absent(self, found: "Sequence[InstalledExtension]") -> str:
        """Which of the named extensions are not installed, and what is, in one line; empty if all are."""
        missing = [name for name in self.named if not any(each.has_name((name,)) for each in found)]
        if not missing:
            return ""
        there = ", ".join(dict.fromkeys(each.record.name for each in found)) or "none"
        return f"extensions.enable: {', '.join(missing)} is not installed beside kotef (installed: {there})"

    def select(self, found: "Sequence[InstalledExtension]") -> tuple[SelectedExtension, ...]:
        """Each installed extension with whether it is on."""
        return tuple(self._selected(each) for each in found)

    def _selected(self, extension: "InstalledExtension") -> SelectedExtension:
        named = extension.has_name(self.named)
        is_off = ALL in self.disable or extension.has_name(self.disable)
        is_on = (named or ALL in self.enable) and not is_off
        return SelectedExtension(extension, is_on, named)
