"""Detection of a project's checks: declared by a person or found in its files."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, get_args

from kotef.checks.project_config import table, toml_of
from kotef.checks.projects import (
    DetectedCheck,
    c,
    go_and_rust,
    java,
    make,
    node,
    packages,
    python,
    usual_commands,
    workflows,
)
from kotef.checks.types import Check, Origin
from kotef.errors import SpecError
from kotef.shell import Role, role_of

CONFIGURATION: Final = ".sdd/kotef.toml"
MAX_NAME: Final = 40
"""Characters of a check's name, its number included."""

PROJECTS: Final = (python, node, go_and_rust, java, c)
"""What each kind of project implies; `make`, `workflows` and `usual_commands`: only if none has a test."""

_TABLE_KEYS: Final = frozenset({"name", "command", "role", "required"})
_IN_AN_ENVIRONMENT: Final = re.compile(
    r'(?:PATH="[^"]*" )|'
    r"(?:(?:uv|poetry|pdm|hatch|pipenv|rye|pixi) run (?:--\S+ )*)|(?:\S*/)?python[\d.]* -m |(?:\S*/)?bin/|npx "
)
"""What is in front of a tool to find it; no part of a name."""


def collect_checks(
    root: Path,
    *,
    options: Sequence[str],
    ticket: Sequence[str],
    architect: Sequence[str],
    settings: Path | None = None,
    concerning: str = "",
    more: Sequence[Check] = (),
) -> tuple[Check, ...]:
    """The checks of a task, from the first place that says something, with unique names.

    `--check` alone if given. Else the ticket's `## Tests`, else `.sdd/kotef.toml`, else `[tool.kotef]` of pyproject,
    else detection; and to any of these the quality gates of architect.md, each command once. Where only the gates
    speak, what they have no check for is detected: no detected test check beside a gate that runs tests. `settings` is
    where the two configuration files are read; None: the workspace. `concerning` is what the task says of itself, the
    goal, the ticket, or paths that changed: it chooses among the packages of a workspace whose root has no tests.

    `more` are checks of extensions: they come on top of whatever is found, unless `--check` is given, and replace none.

    Raises `SpecError` for a broken configuration file, with file and line. Empty when there is no check at all.
    """
    if any(command.strip() for command in options):
        return _named_uniquely(_given(options, "option"))
    gates = _given(architect, "architect")
    found = tuple(_given(ticket, "ticket")) or configured(settings or root)
    if not found:
        covered = {gate.role for gate in gates}
        found = tuple(check for check in detect(root, concerning=concerning) if check.role not in covered)
    added = [check.model_copy(update={"name": _clean(check.name) or _name(check.command)}) for check in more]
    demanded = {check.command for check in added}
    kept = (_demanded(check) if check.command in demanded else check for check in (*found, *gates))
    return _named_uniquely([*kept, *added])


def _demanded(check: Check) -> Check:
    """The same check, required: a repository's files cannot make advisory what an extension asks for."""
    return check.model_copy(update={"required": True})


def configured(root: Path) -> tuple[Check, ...]:
    """The `checks` list of `.sdd/kotef.toml`, else of `[tool.kotef]` in pyproject.toml; empty when neither has one.

    An entry is a command line, or a table with `command` and perhaps `name`, `role` and `required`.
    """
    path = root / CONFIGURATION
    if checks := _entries(toml_of(root, CONFIGURATION).get("checks"), path, "kotef.toml"):
        return _named_uniquely(checks)
    path = root / "pyproject.toml"
    return _named_uniquely(_entries(table(toml_of(root, path.name), "tool", "kotef").get("checks"), path, "pyproject"))


def detect(root: Path, *, concerning: str = "") -> tuple[Check, ...]:
    """The checks that the project's own files imply, run in the project's own environment.

    Linters and type checkers only where they are configured; make targets only where nothing more specific runs tests;
    the packages below the root only where the root has no test.
    """
    found = _of_one(root)
    if not any(check.role == "test" for check in found):
        found += packages.checks(root, _of_one, concerning=concerning)
    return _named_uniquely(map(_detected, found))


def detect_undeclared(root: Path) -> tuple[Check, ...]:
    """The test checks that the files of the root suggest beside what it declares; for where that cannot start."""
    return _named_uniquely(map(_detected, python.undeclared(root)))


def _detected(found: DetectedCheck) -> Check:
    name = _clean(found.name)
    return Check(name=name, command=found.command, role=found.role, origin="detected", source=found.source)


def _of_one(root: Path) -> list[DetectedCheck]:
    """What the files of one folder imply."""
    found = [check for project in PROJECTS for check in project.checks(root)]
    for fallback in (make, workflows, usual_commands):
        if not any(check.role == "test" for check in found):
            found += fallback.checks(root, have={check.role for check in found})
    return found


def missing_dependencies(root: Path) -> tuple[str, ...]:
    """What has to be installed before the checks can run, one line each, with the `[setup]` line that does it."""
    found = [*python.missing(root), *node.missing(root)]
    return tuple(
        f'{problem}: install it, or add `commands = ["{command}"]` under `[setup]` in {CONFIGURATION}'
        for problem, command in found
    )


def _given(commands: Iterable[str], origin: Origin) -> list[Check]:
    """Command lines as checks; blank lines and comments are none."""
    lines = (" ".join(command.split()) if "\n" not in command else command.strip() for command in commands)
    return [
        Check(name=_name(line), command=line, role=role_of(line), origin=origin)
        for line in lines
        if line and not line.startswith("#")
    ]


def _entries(entries: object, path: Path, origin: Origin) -> list[Check]:
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise SpecError(path, "`checks` is not a list", hint='write `checks = ["pytest -q"]`')
    return [_entry(entry, path, f"checks[{at}]", origin) for at, entry in enumerate(entries)]


def _entry(entry: object, path: Path, where: str, origin: Origin) -> Check:
    """One entry of a `checks` list; every mistake is named with the entry it is in."""
    fields: dict[str, Any] = entry if isinstance(entry, dict) else {}
    if isinstance(entry, str):
        fields = {"command": entry}
    command = fields.get("command")
    if not isinstance(command, str) or not command.strip():
        raise SpecError(path, f"{where} has no command", hint='write "pytest -q" or { command = "pytest -q" }')
    if unknown := sorted(fields.keys() - _TABLE_KEYS):
        raise SpecError(
            path, f"{where} has the unknown key `{unknown[0]}`", hint=f"known: {', '.join(sorted(_TABLE_KEYS))}"
        )
    role = fields.get("role", role_of(command))
    if role not in get_args(Role):
        raise SpecError(path, f"{where} has the unknown role `{role}`", hint=f"known: {', '.join(get_args(Role))}")
    name, required = fields.get("name", ""), fields.get("required", True)
    if not isinstance(name, str) or not isinstance(required, bool):
        raise SpecError(
            path, f"{where}: `name` must be a string, and `required` true or false", hint="correct the value"
        )
    return Check(
        name=_clean(name) or _name(command), command=command.strip(), role=role, origin=origin, required=required
    )


def _name(command: str) -> str:
    """A short name: the command from its tool on, as far as it fits."""
    return _clean(_IN_AN_ENVIRONMENT.sub("", command, count=3)) or "check"


def _clean(name: str) -> str:
    """Only what may be in a file name, for logs are named after checks."""
    return re.sub(r"[^\w. +-]+", "-", name)[:MAX_NAME].strip(" -.")


def _named_uniquely(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Each command once, the first of it; a name that is taken gets a number."""
    by_command: dict[str, Check] = {}
    names: set[str] = set()
    for check in checks:
        if check.command in by_command:
            continue
        name, number = check.name, 2
        while name.lower() in names:
            suffix = f" {number}"
            name, number = check.name[: MAX_NAME - len(suffix)].rstrip() + suffix, number + 1
        names.add(name.lower())
        by_command[check.command] = check if name == check.name else check.model_copy(update={"name": name})
    return tuple(by_command.values())
