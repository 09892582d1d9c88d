"""Extensions that are installed in kotef's own environment; nothing of them is imported to list them."""

import os
import re
import site
import sysconfig
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kotef.state import ActiveExtension, ExtensionKind

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS: Final[Mapping[str, ExtensionKind]] = {
    "kotef.checks": "check",
    "kotef.coders": "coder",
    "kotef.fixers": "fixer",
    "kotef.guards": "guard",
    "kotef.tools": "tool",
}
"""Group of entry points → kind of extension."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_TOOL_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_WORDS: Final = frozenset({"all", "none"})
"""What stands for names in the setting."""


@dataclass(frozen=True, slots=True)
class InstalledExtension:
    """One entry point of a distribution."""

    record: ActiveExtension
    problem: str = ""
    """Why it can never be active here, in one line; empty if it can."""
    in_workspace: bool = False
    """Whether it is installed below the workspace, and therefore no one's choice."""

    @property
    def title(self) -> str:
        """How messages name it."""
        return self.record.title

    def has_name(self, words: Iterable[str]) -> bool:
        """Whether one of the words is its name, or that of its distribution."""
        own = {self.record.name, _normal(self.record.distribution)}
        return any(word == self.record.name or _normal(word) in own for word in words)


def environment_folders() -> tuple[Path, ...]:
    """The folders for packages of the interpreter that runs kotef: neither PYTHONPATH nor the current directory."""
    folders = [*site.getsitepackages(), *(sysconfig.get_path(name) for name in ("purelib", "platlib"))]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return tuple(dict.fromkeys(Path(folder) for folder in folders if Path(folder).is_dir()))


def installed_extensions(root: Path) -> tuple[InstalledExtension, ...]:
    """All of them, sorted by kind and name, those that cannot be used with the reason.

    What lies in the workspace `root` is never used: a repository, or a command of a run, could have put it there.
    """
    by_name: dict[tuple[str, str], list[InstalledExtension]] = defaultdict(list)
    for folder in environment_folders():
        for each in _in_folder(folder, root):
            by_name[each.record.kind, each.record.name].append(each)
    return tuple(one for _, same in sorted(by_name.items()) for one in _without_clash(same))


def _without_clash(same: Sequence[InstalledExtension]) -> Iterator[InstalledExtension]:
    """Those of one kind and name, each once. Where two distributions offer the same, neither is taken.

    One in the workspace clashes with none: else it could keep another from being active.
    """
    outside = {each.record: each for each in same if not each.in_workspace}
    inside = {each.record: each for each in same if each.record not in outside}
    for record, each in sorted((*outside.items(), *inside.items()), key=lambda pair: pair[0].origin):
        others = [one.origin for one in outside if one != record] if record in outside else []
        clash = f"{' and '.join(others)} has a {record.kind} of this name too; uninstall one of them"
        yield replace(each, problem=each.problem or clash) if others else each


def _in_folder(folder: Path, root: Path) -> Iterator[InstalledExtension]:
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.name.endswith((".dist-info", ".egg-info")))
    for name in names:
        if _registers(f"{folder}/{name}/entry_points.txt"):
            yield from _of_distribution(folder / name, root)


def _registers(entry_points: str) -> bool:
    """Whether a list of entry points has one for kotef: an environment has hundreds of lists that do not."""
    try:
        with open(entry_points, "rb") as file:  # noqa: PTH123  as quickly as it can be
            return b"[kotef." in file.read().replace(b" ", b"")
    except OSError:
        return False


def _of_distribution(metadata: Path, root: Path) -> Iterator[InstalledExtension]:
    """What one distribution registers; nothing where its metadata cannot be read."""
    from importlib.metadata import Distribution

    try:
        distribution = Distribution.at(metadata)
        points = [point for point in distribution.entry_points if point.group in GROUPS]
        name, version = (distribution.metadata["Name"], distribution.version) if points else ("", "")
    except (OSError, ValueError, KeyError, TypeError):
        return
    inside = metadata.resolve().is_relative_to(root.resolve())
    for point in points:
        record = ActiveExtension(
            kind=GROUPS[point.group],
            name=_plain(point.name),
            distribution=_plain(name or metadata.name),
            version=_plain(version or "?"),
            entry_point=_plain(point.value),
        )
        yield InstalledExtension(record, _problem(record, point, inside=inside), in_workspace=inside)


def _problem(record: ActiveExtension, point: "EntryPoint", *, inside: bool) -> str:
    if inside:
        return "it is installed inside of the workspace; install kotef and it elsewhere (pipx, uv tool)"
    if record.name in _taken(record.kind):
        return f"kotef has a {record.kind} of this name"
    pattern = _TOOL_NAME if record.kind == "tool" else _NAME
    if record.name in _WORDS or not pattern.fullmatch(record.name):
        return "its name must be lower-case letters, digits and _, at most 40"
    if not point.module or not point.attr:
        return f"its entry point `{record.entry_point}` is not written as `module:name`"
    return ""


def _taken(kind: ExtensionKind) -> Collection[str]:
    """Names of kotef's own, which no extension may have."""
    match kind:
        case "coder":
            from kotef.coders.chain import KNOWN
            from kotef.coders.command.presets import PRESETS

            return {*KNOWN, *PRESETS, "command"}
        case "fixer":
            from kotef.fixers import FIXERS

            return {row.name for row in FIXERS}
        case "tool":
            from kotef.tools.registry import NAMES

            return NAMES
        case _:
            return ()


def _plain(text: str) -> str:
    """One printable line."""
    return "".join(char if char.isprintable() else "?" for char in text)[:200]


def _normal(name: str) -> str:
    """The name of a distribution as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()
