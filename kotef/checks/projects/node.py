"""The checks of a Node project, and its package manager."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from kotef.checks.project_config import json_of, table
from kotef.checks.projects import DetectedCheck
from kotef.checks.projects.declared_commands import needs_more
from kotef.checks.projects.package_scripts import is_replaced, npm_command
from kotef.checks.projects.workflows import workflow_commands
from kotef.checks.toolchain_versions import node_folder

_LOCKS: Final = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
}
_INSTALL: Final = {
    "npm": "npm ci",
    "pnpm": "pnpm install --frozen-lockfile",
    "yarn": "yarn install --frozen-lockfile",
    "bun": "bun install --frozen-lockfile",
}
_SCRIPT: Final = "package.json: scripts."
_TYPECHECK: Final = ("typecheck", "type-check", "check-types", "types", "tsc")
_HOOKS: Final = ("pretest", "posttest")
_ALONE: Final = "npm test --ignore-scripts"
_OWN_CHECK: Final = re.compile(r"npm run (?:-\S+ )*(?:lint|" + "|".join(_TYPECHECK) + r")")
_UNIT: Final = ("test:unit", "unit", "tests", "test:run", "test:ci")
_OF_NODE: Final = re.compile(r"(?:npm|pnpm|yarn|bun|npx|bunx) |node (?:--\S+ )*--test\b")
"""How a command begins that needs only Node and what is installed."""
_PLACEHOLDER: Final = "no test specified"
"""What `npm init` writes as the test script; it fails on purpose and tests nothing."""
_EDITS: Final = re.compile(r"--(?:fix|write)\b")
_RUNS_ONCE: Final = (
    (re.compile(r"(?:^|[;&|] *|\s)vitest(?: (?:watch|dev))?(?= *$| -)(?!.*--run)"), "--run"),
    (re.compile(r"(?:^|[;&|] *|\s)jest\b[^;&|]*--watch(?:All)?(?![=\w])"), "--watch=false --watchAll=false"),
)
"""Scripts that would wait for changes, and the arguments that make them end; only for the last command of a script."""


def checks(root: Path) -> Iterator[DetectedCheck]:
    """The scripts `test`, `lint` and one for the types, if package.json has them; none that edits files.

    With the Node that the project asks for, where a version manager has it.
    """
    folder = node_folder(root)
    active = Path(shutil.which("node") or "/").parent
    front = f'PATH="{folder}:$PATH" ' if folder and folder != active and re.fullmatch(r"[\w./+-]+", str(folder)) else ""
    for found in _checks(root):
        yield found._replace(command=" && ".join(f"{front}{each}" for each in found.command.split(" && ")))


def _checks(root: Path) -> Iterator[DetectedCheck]:
    package = json_of(root, "package.json")
    scripts = {name: body for name, body in table(package, "scripts").items() if isinstance(body, str) and body.strip()}
    manager = _manager(root, package)
    if is_replaced(root, manager):
        yield from _scripts_by_npm(root, package, scripts, manager)
    else:
        yield from _scripts(root, package, scripts, manager)


def _scripts_by_npm(
    root: Path, package: dict[str, Any], scripts: dict[str, str], manager: str
) -> Iterator[DetectedCheck]:
    """The scripts started by npm; as the project says where npm cannot."""
    for found in _scripts(root, package, scripts, manager):
        name = found.source.removeprefix(_SCRIPT)
        command = npm_command(root, name, scripts, manager) if name in scripts else ""
        if command:
            source = f"{found.source}, without {manager}, which is not installed"
            is_whole = command in {"npm test", f"npm run {name}"}
            once = _once(command, scripts[name], "npm") if is_whole else _once(command, command, "npx")
            yield DetectedCheck(found.name.replace(manager, "npm", 1), once, found.role, source)
        else:
            yield found


def _scripts(root: Path, package: dict[str, Any], scripts: dict[str, str], manager: str) -> Iterator[DetectedCheck]:
    run = f"{manager} run"
    test = scripts.get("test", "")
    if test and _PLACEHOLDER not in test:
        yield _test_script(test, scripts, manager)
    elif package:
        yield from _other_tests(root, scripts, run)

    lint = scripts.get("lint", "")
    if lint and not _EDITS.search(lint):
        yield DetectedCheck(f"{manager} lint", f"{run} lint", "lint", f"{_SCRIPT}lint")
    if name := next((name for name in _TYPECHECK if name in scripts), ""):
        yield DetectedCheck(f"{manager} {name}", f"{run} {name}", "types", f"{_SCRIPT}{name}")


def _test_script(test: str, scripts: dict[str, str], manager: str) -> DetectedCheck:
    """The script `test`; with npm, without hooks that need more than this workspace."""
    command, source = f"{manager} test", f"{_SCRIPT}test"
    if manager == "bun":
        command = "bun run test"
    elif manager == "npm" and (hooks := _hooks_left_out(scripts)):
        command, source = _without_hooks(scripts), f"{source}, without {' and '.join(hooks)}"
    return DetectedCheck(f"{manager} test", _once(command, test, manager), "test", source)


def _hooks_left_out(scripts: dict[str, str]) -> list[str]:
    """What npm runs around the tests and needs more than this workspace, as `npm audit` does."""
    return [name for name in _HOOKS if needs_more([scripts.get(name, "")])]


def _without_hooks(scripts: dict[str, str]) -> str:
    """The tests without the hooks, after the one in front where that can be run here and is not a check of its own."""
    before = scripts.get(_HOOKS[0], "")
    parts = [part.strip() for part in before.split("&&")]
    is_needed = before and not needs_more([before]) and not all(_OWN_CHECK.fullmatch(part) for part in parts)
    return f"npm run {_HOOKS[0]} && {_ALONE}" if is_needed else _ALONE


def _other_tests(root: Path, scripts: dict[str, str], run: str) -> Iterator[DetectedCheck]:
    """Where there is no script `test`: what the CI workflows run, else a script that is named after unit tests."""
    hint = next((each for each in workflow_commands(root) if _OF_NODE.match(each.runner) and not each.folder), None)
    if hint is not None:
        yield DetectedCheck(hint.command, hint.command, "test", hint.source)
    elif name := next((name for name in _UNIT if name in scripts and _PLACEHOLDER not in scripts[name]), ""):
        yield DetectedCheck(f"{run} {name}", f"{run} {name}", "test", f"{_SCRIPT}{name}")


def missing(root: Path) -> Iterator[tuple[str, str]]:
    """Dependencies that are named but not installed."""
    package = json_of(root, "package.json")
    wanted = table(package, "dependencies") or table(package, "devDependencies")
    if wanted and not (root / "node_modules").exists() and not (root / ".pnp.cjs").exists():
        lock = next((name for name in _LOCKS if (root / name).is_file()), "")
        yield f"{lock or 'package.json'} lists dependencies, but node_modules is missing", making(root)


def making(root: Path) -> str:
    """The command that installs what package.json names."""
    manager = _manager(root, json_of(root, "package.json"))
    locked = any((root / name).is_file() for name in _LOCKS)
    return _INSTALL[manager] if locked else f"{manager} install"


def _manager(root: Path, package: dict[str, Any]) -> str:
    """By the lock file, else by `packageManager`, else npm."""
    locked = next((manager for lock, manager in _LOCKS.items() if (root / lock).is_file()), "")
    named = str(package.get("packageManager", "")).split("@")[0]
    return locked or (named if named in _INSTALL else "npm")


def _once(command: str, script: str, manager: str) -> str:
    """The command with the script's watch mode off; npm, pnpm and bun want `--` before a script's arguments."""
    last = re.split(r"&&|\|\||;", script)[-1].strip()
    for watches, arguments in _RUNS_ONCE:
        if watches.search(last):
            return f"{command} {'' if manager in {'yarn', 'npx'} else '-- '}{arguments}"
    return command
