"""Extensions of a run: loaded as the settings say, and handed to the parts that use them."""

from dataclasses import replace
from pathlib import Path

from kotef.checks.types import Check
from kotef.extensions import ExtensionSet, ExtensionSettings, load_extensions
from kotef.state import ExtensionKind, Task
from kotef.tools.toolset import Kit


def extensions_of(root: Path, settings: ExtensionSettings, *kinds: ExtensionKind) -> ExtensionSet:
    """The active extensions, of these kinds where there are any.

    Raises UsageError for a name that is not installed, ExtensionError for one that a run cannot begin without.
    """
    return load_extensions(root, settings, kinds=frozenset(kinds))


def checks_of(extensions: ExtensionSet, root: Path) -> tuple[Check, ...]:
    """The checks that extensions add. Raises ExtensionError."""
    if not extensions.of_kind("check"):
        return ()
    from kotef.extensions import extension_checks

    return extension_checks(extensions, root)


def equipped(kit: Kit, extensions: ExtensionSet, root: Path) -> Kit:
    """The kit with the tools and the guards of extensions."""
    if not extensions.loaded:
        return kit
    from kotef.extensions import guard_rules, tool_rows

    return replace(kit, more=tool_rows(extensions), rules=guard_rules(extensions, root))


def changed_since(task: Task, extensions: ExtensionSet) -> tuple[str, ...]:
    """A line where a resumed run continues with other extensions than it had."""
    before, now = set(task.extensions), set(extensions.records)
    parts = (("without", before - now), ("now with", now - before))
    phrases = [f"{word} {', '.join(sorted(each.title for each in some))}" for word, some in parts if some]
    return (
        (f"the extensions have changed since the run last worked: it continues {' and '.join(phrases)}",)
        if phrases
        else ()
    )
