"""Test commands that Python tools keep in tables: tox, nox, hatch, and the tasks of pdm, poe, taskipy, pixi and rye.

Each is read into plain lines as a person would type them at the root: first `cd DIR && ` for the folder of the command,
then the variables that are plain values. What only the tool knows is left out where it chooses no test.
"""

import ast
import re
import shlex
from collections.abc import Iterator, Mapping
from configparser import ConfigParser, Error
from pathlib import Path
from posixpath import normpath
from typing import Any, Final, NamedTuple

from kotef.checks.project_config import readable_text, table, toml_of
from kotef.shell import unwrap

_SESSIONS: Final = re.compile(r"(?:unit_?)?tests?(?:_unit)?|unit|pytest|unittest")
_TASKS: Final = re.compile(r"(?:unit[-_:]?)?tests?(?:[-_:]unit)?|unit|pytest|unittest|check")
_HATCH: Final = ("hatch-test", "test", "tests", "testing", "default", "dev")
"""Environments of hatch whose scripts are looked at, in this order."""
_TABLES: Final = (("pdm", "scripts"), ("poe", "tasks"), ("taskipy", "tasks"), ("pixi", "tasks"), ("rye", "scripts"))
_NESTED: Final = 4
"""Substitutions inside of others, and scripts that call others, that are followed."""
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_PLAIN: Final = re.compile(r"[\w./:@%+,-]*")
_OF_THE_MACHINE: Final = re.compile(
    r"(?:FORCE_COLOR|NO_COLOR|PY_COLORS|CLICOLOR\w*|TERM|CI|PATH|HOME|TMPDIR|GITHUB_\w+|LD_\w+|DYLD_\w+|PIP_\w+|UV_\w+|NPM_\w+"
    r"|HOMEBREW_\w+|VIRTUALENV_\w+|TOX\w*|NOX\w*|COVERAGE_\w+|PYTEST_ADDOPTS|PYTHONDONTWRITEBYTECODE|PYTHONUNBUFFERED)"
)
"""Variables that colour the log, steer installation or measuring, or belong to the machine: no part of the tests."""
_OPTION_OF_THE_TOOL: Final = re.compile(r" --[\w-]+(?:=| )[^\s{}]*\{[^{}]*\}\S*")
"""An option whose value only the tool knows, as in `--basetemp={envtmpdir}`."""
OF_COVERAGE: Final = re.compile(r"(?:\S*python[\d.]* -m )?coverage (?:report|html|xml|json|lcov|erase|combine)\b")
"""What is done with measured coverage after the tests."""
_FACTOR: Final = re.compile(r"[\w!.,{}-]+: +")


class TaskCommand(NamedTuple):
    """The lines of a test command, and where they stand."""

    lines: tuple[str, ...]
    source: str


def tasks(root: Path) -> Iterator[TaskCommand]:
    """Every test command that such a table declares and that can be typed."""
    yield from _tox(root)
    yield from _nox(root)
    yield from _hatch(root)
    yield from _of_tables(root)


def plain_variables(variables: Mapping[str, Any]) -> str:
    """Plain values as assignments in front of a command, a blank behind each; others are left out."""
    kept = {
        name: value
        for name, value in variables.items()
        if _NAME.fullmatch(name) and not _OF_THE_MACHINE.fullmatch(name) and isinstance(value, str)
    }
    return "".join(f"{name}={value} " for name, value in kept.items() if _PLAIN.fullmatch(value))


def in_folder(folder: str, line: str) -> str:
    """The line as it is typed at the root for a command that runs in a folder; empty for one outside of it."""
    place = normpath(folder)
    if place.startswith(("/", "..")) or not _PLAIN.fullmatch(place):
        return ""
    return line if place == "." else f"cd {place} && {line}"


def _tox(root: Path) -> Iterator[TaskCommand]:
    """`commands` of tox's default environment."""
    pyproject = toml_of(root, "pyproject.toml")
    legacy = table(pyproject, "tool", "tox").get("legacy_tox_ini")
    texts = [(name, readable_text(root, name)) for name in ("tox.ini", "setup.cfg")]
    texts += [("pyproject.toml", legacy)] if isinstance(legacy, str) else []
    for name, text in texts:
        if lines := _of_ini(text):
            yield TaskCommand(lines, "pyproject.toml: tool.tox" if name == "pyproject.toml" else f"{name}: testenv")
            return
    for name, tables in (("tox.toml", toml_of(root, "tox.toml")), ("pyproject.toml", table(pyproject, "tool", "tox"))):
        base = table(tables, "env_run_base")
        commands = base.get("commands")
        words = [_joined(each) for each in commands] if isinstance(commands, list) else []
        if found := _typed(words, str(base.get("change_dir", ".")), table(base, "set_env")):
            yield TaskCommand(found, f"{name}: env_run_base")
            return


def _of_ini(text: str) -> tuple[str, ...]:
    """The command lines of `[testenv]` in an INI text; empty if there are none that can be typed."""
    parser = ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except (Error, ValueError):
        return ()
    if not parser.has_option("testenv", "commands"):
        return ()

    def of(name: str) -> str:
        found = parser.get("testenv", name, fallback="") or ""
        for _ in range(_NESTED):
            found = re.sub(r"\{\[([\w:-]+)\](\w+)\}", lambda match: _referred(parser, match), found)
        return found.replace("\\\n", " ")

    lines = [line.strip() for line in of("commands").splitlines()]
    variables = {}
    for line in (of("setenv") or of("set_env")).splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not _FACTOR.match(line.strip()):
            variables[name.strip()] = _without_substitutions(value.strip())
    folder = (of("changedir") or of("change_dir") or ".").strip()
    return _typed([line for line in lines if line and not line.startswith("#")], folder, variables)


def _referred(parser: ConfigParser, match: re.Match[str]) -> str:
    return parser.get(match[1], match[2], fallback="{unknown}") or ""


def _typed(lines: list[str], folder: str, variables: Mapping[str, Any]) -> tuple[str, ...]:
    """The lines without tox's substitutions: where a test command needs one that only tox knows, none can be used."""
    known = [_without_substitutions(line.removeprefix("-").strip()) for line in lines]
    known = [line for line in known if not OF_COVERAGE.match(line)]
    known = [_OPTION_OF_THE_TOOL.sub("", line).strip() if unwrap(line).purpose == "test" else line for line in known]
    if any("{" in line and unwrap(line).purpose == "test" for line in known):
        return ()
    place, front = _without_substitutions(folder), plain_variables(variables)
    return tuple(found for line in known if (found := in_folder(place, f"{front}{line}")))


def _without_substitutions(line: str) -> str:
    """A line of tox with what is known put in: paths, defaults, and nothing for arguments a person may add."""
    known = {"envpython": "python", "env_python": "python", "toxinidir": ".", "tox_root": ".", "posargs": "", "/": "/"}
    line = re.sub(r'"?\{(?:envbindir|env_bin_dir)\}"?/', "", line).replace('"{envpython}"', "{envpython}")
    for _ in range(_NESTED):
        line = re.sub(r"\{(?:env:\w+|posargs):([^{}]*)\}", r"\1", line)
        line = re.sub(r"\{(\w+|/)\}", lambda match: known.get(match[1], match[0]), line)
    return line.strip()


def _joined(words: Any) -> str:
    """A command of tox.toml: words, and tables that stand for the arguments a person may add."""
    if not isinstance(words, list):
        return ""
    parts: list[str] = []
    for word in words:
        default = word.get("default", []) if isinstance(word, dict) and word.get("replace") == "posargs" else word
        parts += [each for each in default if isinstance(each, str)] if isinstance(default, list) else [str(default)]
    return shlex.join(parts).replace("'{", "{").replace("}'", "}")


def _nox(root: Path) -> Iterator[TaskCommand]:
    """What the session that runs the tests hands to `session.run`, in the folder and with the variables it sets."""
    try:
        tree = ast.parse(readable_text(root, "noxfile.py"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        if not _SESSIONS.fullmatch(function.name):
            continue
        folder, variables = ".", dict[str, str]()
        lines: list[str] = []
        for node in ast.walk(function):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="session"), attr="chdir"), args=[ast.Constant(place)]
                ):
                    folder = str(place)
                case ast.Assign(
                    targets=[ast.Subscript(value=ast.Attribute(attr="env"), slice=ast.Constant(str(name)))],
                    value=ast.Constant(str(value)),
                ):
                    variables[name] = value
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="session"), attr="run"), args=arguments, keywords=more
                ):
                    line = shlex.join(_texts(arguments))
                    front = plain_variables(_dictionary(more))
                    lines += [f"{front}{line}"] if unwrap(line).purpose == "test" else []
        front = plain_variables(variables)
        found = [placed for line in lines if (placed := in_folder(folder, f"{front}{line}"))]
        yield from [TaskCommand(tuple(dict.fromkeys(found)), f"noxfile.py: {function.name}")] if found else []
        return


def _texts(nodes: list[ast.expr]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _dictionary(keywords: list[ast.keyword]) -> dict[str, str]:
    """What `env={"A": "b"}` says, of what is written plainly."""
    for each in keywords:
        if each.arg == "env" and isinstance(each.value, ast.Dict):
            pairs = zip(each.value.keys, each.value.values, strict=True)
            return {
                key.value: value.value
                for key, value in pairs
                if isinstance(key, ast.Constant)
                and isinstance(key.value, str)
                and isinstance(value, ast.Constant)
                and isinstance(value.value, str)
            }
    return {}


def _hatch(root: Path) -> Iterator[TaskCommand]:
    """The test script of one of hatch's environments, with the variables of that environment."""
    places = (
        ("hatch.toml", table(toml_of(root, "hatch.toml"), "envs")),
        ("pyproject.toml: tool.hatch", table(toml_of(root, "pyproject.toml"), "tool", "hatch", "envs")),
    )
    for source, environments in places:
        for name in _HATCH:
            environment = table(environments, name)
            scripts = table(environment, "scripts")
            chosen = next((each for each in scripts if _TASKS.fullmatch(each)), "")
            chosen = chosen or ("run" if name == "hatch-test" and "run" in scripts else "")
            lines = _script(scripts, chosen, _NESTED)
            front = plain_variables(table(environment, "env-vars"))
            if lines and not any("{" in line for line in lines):
                yield TaskCommand(tuple(f"{front}{line}" for line in lines), f"{source}: {name}.{chosen}")
                return


def _script(scripts: Mapping[str, Any], name: str, depth: int) -> list[str]:
    """The lines of a script of hatch, those of the scripts that it calls put in."""
    body = scripts.get(name)
    found: list[str] = []
    for line in body if isinstance(body, list) else [body]:
        if not isinstance(line, str):
            continue
        first, _, rest = line.strip().removeprefix("- ").partition(" ")
        if first in scripts and first != name and depth:
            found += [f"{inner} {rest}".strip() for inner in _script(scripts, first, depth - 1)]
        else:
            found.append(_without_arguments(line.strip().removeprefix("- ")))
    return found


def _without_arguments(line: str) -> str:
    """With the default of the arguments a person may add, and the project's root as the folder one stands in."""
    line = re.sub(r"\{args(?::([^{}]*))?\}", lambda match: match[1] or "", line)
    return re.sub(r"\{root\}/?", "./", line).strip()


def _of_tables(root: Path) -> Iterator[TaskCommand]:
    """A task named after tests: a line, or a table with `cmd` and perhaps `env` and a working folder."""
    tool = table(toml_of(root, "pyproject.toml"), "tool")
    for path in _TABLES:
        for name, task in table(tool, *path).items():
            settings = task if isinstance(task, dict) else {"cmd": task}
            line = settings.get("cmd", settings.get("shell"))
            if not (_TASKS.fullmatch(name) and isinstance(line, str) and line.strip()):
                continue
            folder = str(settings.get("cwd", settings.get("working_dir", ".")))
            text = re.sub(r"\{args(?::([^{}]*))?\}", lambda match: match[1] or "", " ".join(line.split()))
            placed = in_folder(folder, f"{plain_variables(table(settings, 'env'))}{text}".strip())
            if placed and "{" not in placed:
                yield TaskCommand((placed,), f"pyproject.toml: tool.{'.'.join(path)}.{name}")
                return
