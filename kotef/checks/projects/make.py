"""Declared commands as checks, if nothing more specific runs the tests."""

from collections.abc import Collection, Iterator
from pathlib import Path

from kotef.checks.model import Role
from kotef.checks.projects import Found
from kotef.checks.projects.declared import declared, has_target


def checks(root: Path, *, have: Collection[Role]) -> Iterator[Found]:
    """The first declared test command, one that needs no more than this workspace before others; `make lint`."""
    commands = [each for each in declared(root) if each.command]
    suited = [each for each in commands if each.is_suited]
    if "test" not in have and (found := next(iter((*suited, *commands)), None)):
        yield Found(found.command, found.command, "test", found.source)
    if "lint" not in have and has_target(root, "lint"):
        yield Found("make lint", "make lint", "lint", "Makefile: lint")
