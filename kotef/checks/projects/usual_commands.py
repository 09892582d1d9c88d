"""The test commands of tools that have one usual command."""

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple

from kotef.checks.project_config import json_of, table
from kotef.checks.projects import DetectedCheck
from kotef.files import list_within
from kotef.shell import Role

_MOST: Final = 2_000
"""Entries of the root that are looked at."""


class _Row(NamedTuple):
    """A file at the top of a project, what else has to be there, and the command."""

    file: str
    """A glob of its name."""
    beside: str
    """A path that has to be there too; empty: none."""
    command: str


_ROWS: Final = (
    _Row("Gemfile", "spec", "bundle exec rspec"),
    _Row("Gemfile", "Rakefile", "bundle exec rake test"),
    _Row("Rakefile", "test", "rake test"),
    _Row("phpunit.xml*", "vendor/bin/phpunit", "vendor/bin/phpunit"),
    _Row("*.sln", "", "dotnet test"),
    _Row("*.slnx", "", "dotnet test"),
    _Row("mix.exs", "", "mix test"),
    _Row("Package.swift", "", "swift test"),
    _Row("build.zig", "", "zig build test"),
    _Row("MODULE.bazel", "", "bazel test //..."),
    _Row("WORKSPACE", "", "bazel test //..."),
    _Row("deno.json*", "", "deno test"),
)
"""In the order in which they are asked; the first that fits is taken."""


def checks(root: Path, *, have: Collection[Role]) -> Iterator[DetectedCheck]:
    """Nothing where tests are run already; the `test` script of composer.json, else the first row that fits."""
    if "test" in have:
        return
    if (root / "composer.json").is_file() and "test" in table(json_of(root, "composer.json"), "scripts"):
        yield DetectedCheck("composer test", "composer test", "test", "composer.json: scripts.test")
        return

    try:
        names = [entry.name for entry in list_within(root, most=_MOST) if not entry.is_directory]
    except OSError:
        return
    for row in _ROWS:
        file = next((name for name in names if fnmatchcase(name, row.file)), "")
        is_complete = not row.beside or (root / row.beside).exists()
        if file and is_complete:
            words = [word for word in row.command.split() if not word.startswith("//")]
            yield DetectedCheck(" ".join(words).removeprefix("vendor/bin/"), row.command, "test", file)
            return
