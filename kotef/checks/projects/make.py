"""Declared commands as checks, for projects where nothing more specific runs the tests."""

from collections.abc import Collection, Iterator
from pathlib import Path

from kotef.checks.projects import DetectedCheck
from kotef.checks.projects.declared_commands import declared, has_target, named_after_tests
from kotef.checks.projects.workflows import workflow_commands
from kotef.shell import Role


def checks(root: Path, *, have: Collection[Role]) -> Iterator[DetectedCheck]:
    """The first declared test command, one that needs no more than this workspace before others; `make lint`.

    Where no target is called `test` or `check`, and the CI workflows name no command, one whose name says test.
    """
    commands = [each for each in declared(root) if each.command]
    if not commands and next(workflow_commands(root), None) is None:
        commands = named_after_tests(root)
    suited = [each for each in commands if each.is_suited]
    if "test" not in have and (found := next(iter((*suited, *commands)), None)):
        yield DetectedCheck(found.command.partition(" && ")[0], found.command, "test", found.source)
    if "lint" not in have and has_target(root, "lint"):
        yield DetectedCheck("make lint", "make lint", "lint", "Makefile: lint")
