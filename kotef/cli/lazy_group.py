"""Group of commands whose modules are imported one at a time, each when it is needed."""

from collections.abc import Iterator, MutableMapping
from typing import Final

import click
from click.shell_completion import CompletionItem

from kotef.cli.commands import COMMANDS, command_of
from kotef.cli.completion import offer

GROUPS: Final = {
    "Start": "demo doctor init",
    "Work": "run check resume watch",
    "Look": "show diff report undo apply runs issues",
}
"""Heading → commands, in the order of a first day; all others come under More."""


class LazyCommands(MutableMapping[str, click.Command]):
    """The commands of the table; one is imported when it is first asked for."""

    def __init__(self) -> None:
        self._names = dict.fromkeys(COMMANDS)
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._loaded:
            self._loaded[name] = command_of(name)
            offer(self._loaded[name])
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._names[name] = None
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._names[name]
        self._loaded.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class LazyGroup(click.Group):
    """A group whose help, by task, and whose completion of names import none of its commands."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each command once."""
        rows = {name: COMMANDS[name] for name in self.list_commands(ctx)}
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, rows.pop(name)) for name in names.split()])
        with formatter.section("More"):
            formatter.write_dl(list(rows.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names with this prefix, and the group's own options."""
        names = (name for name in self.list_commands(ctx) if name.startswith(incomplete))
        items = [CompletionItem(name, help=COMMANDS[name]) for name in names]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]
