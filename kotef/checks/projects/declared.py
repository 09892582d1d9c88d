"""The test command a repository declares itself: make and just targets, tox, nox, scripts."""

import ast
import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from configparser import ConfigParser, Error
from pathlib import Path
from typing import Any, Final, NamedTuple

from kotef.checks.behind import commands_behind
from kotef.checks.commands import programs_of, words_of
from kotef.checks.files import readable_text, table, toml_of
from kotef.failures.unwrap import unwrap

MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")
"""In the order in which GNU make looks for them."""
_JUSTFILES: Final = ("justfile", "Justfile", ".justfile")
_TARGET: Final = re.compile(r"^((?:[\w./-]+ +)*[\w./-]+) *::?(?![=:])", re.MULTILINE)
_RECIPE: Final = re.compile(r"^@?([\w-]+)(?: [^:\n]*)?:(?!=)", re.MULTILINE)
_TARGETS: Final = ("test", "tests", "check")
_SCRIPTS: Final = ("scripts/test", "script/test", "bin/test", "scripts/test.sh", "script/test.sh", "run_tests.sh")
_SESSIONS: Final = re.compile(r"(?:unit_?)?tests?(?:_unit)?|unit|pytest|unittest")
_BESIDE_TESTS: Final = re.compile(
    r"docker|docker-compose|podman|kubectl|vagrant|terraform|ansible(?:-playbook)?|ssh|scp|rsync|curl|wget|aws|gcloud"
    r"|apt|apt-get|brew|sudo|tox|nox|virtualenv|hatch"
)
"""Programs in a test target that need more than this workspace: containers, other machines, environments."""
_INSTALLS: Final = re.compile(
    r"\b(?:pip3?|npm|yarn|pnpm|poetry|uv|pdm|bundle|composer|pipenv)(?:@\S+)?(?: \S+)? (?:install|sync|ci|add|audit)\b"
    r"|-m venv\b"
    r"|\brunserver\b|&\s*$"
)
_NESTED: Final = 4
"""Substitutions inside of others that are followed."""
_COVERAGE: Final = re.compile(r"(?:\bpython[\d.]* -m )?\bcoverage (?:run|erase)(?: +-(?!m )\S+)* -m ")
_ARGUMENTS: Final = re.compile(r"\$[({](?:tests?|\w*args|\w*flags|\w*opts)(?:[)}]|$)", re.IGNORECASE)
"""Variables with which a person adds arguments to a target; usually empty."""
_PLUGIN_OPTION: Final = re.compile(
    r" --cov\S*(?:[ =](?:\S*\.cfg|\S*rc|term\S*|xml|html))?| -n ?(?:auto|logical|\d+)(?= |$)"
    r"| --(?:numprocesses|dist|reruns|reruns-delay|junit-?xml|html)(?:=\S+| [^\s-]\S*)"
)
"""Options of pytest that measure, spread or report the tests, and need plug-ins; they choose no test."""
_ASSIGNMENTS: Final = re.compile(r"(?:[A-Za-z_]\w*=[\w./:@%+,-]* +)+")
_WITHIN: Final = re.compile(
    r"(?:uv|poetry|pdm|pipenv|rye|pixi) run (?:--(?:frozen|locked|no-sync|all-extras|all-groups|dev) )*(?!-)"
)


def needs_more(lines: Sequence[str]) -> bool:
    """Whether commands need more than this workspace: a container, an installation, a server, another machine."""
    programs = {Path(program).name for line in lines for program in programs_of(line)}
    beside = any(_BESIDE_TESTS.fullmatch(program) for program in programs)
    return beside or any(_INSTALLS.search(line) for line in lines)


class Declared(NamedTuple):
    """A test command in the repository's own words."""

    command: str
    """How it is started: `make test`; empty where only its lines can be run."""
    lines: tuple[str, ...]
    """The commands behind it, variables as they are."""
    source: str

    @property
    def is_suited(self) -> bool:
        """Whether it needs nothing but this workspace."""
        return not needs_more(self.lines)

    @property
    def runner(self) -> str:
        """The one plain command that runs the tests, without variables; empty where there is more to it."""
        lines = [line for line in self.lines if unwrap(line).purpose != "read"]
        lines = [line for line in lines if not re.match(r"coverage (?:report|html|xml|erase|combine)\b", line)]
        if not self.command:
            lines = [line for line in lines if unwrap(line).purpose == "test"]
        if len(lines) != 1:
            return ""
        line = _ARGUMENTS.sub("", lines[0])
        line = _PLUGIN_OPTION.sub("", _COVERAGE.sub("python -m ", line)).strip()
        plain = not any(mark in line for mark in "$`|&;<>(){}\n")
        return line if plain and unwrap(line).purpose == "test" else ""


def declared(root: Path) -> Iterator[Declared]:
    """Every test command that is declared: what needs no tool of its own first."""
    yield from _targets(root, "make", MAKEFILES, _TARGET)
    yield from _targets(root, "just", _JUSTFILES, _RECIPE)
    for words, source in (_tox(root), _nox(root)):
        if words:
            yield Declared("", tuple(words), source)
    for path in _SCRIPTS:
        text = readable_text(root, path)
        if text.strip() and not text.startswith("\x7fELF"):
            lines = (line.strip() for line in text.replace("\\\n", " ").splitlines())
            shell = "" if text.startswith("#!") and not re.match(r"#! ?\S*(?:sh|env \w*sh)\b", text) else "sh "
            shell = "bash " if re.match(r"#! ?\S*[ /]bash\b", text) else shell
            started = f"{shell}{path}" if shell else f"./{path}"
            kept = tuple(line for line in lines if line and not line.startswith(("#", "set ")))
            yield Declared(started, kept, path)


def has_target(root: Path, target: str) -> bool:
    """Whether the project's Makefile has a target of that name."""
    return target in _names(root, MAKEFILES, _TARGET)


def _targets(root: Path, tool: str, files: tuple[str, ...], pattern: re.Pattern[str]) -> Iterator[Declared]:
    names = _names(root, files, pattern)
    file = next((name for name in files if readable_text(root, name)), "")
    for target in (name for name in _TARGETS if name in names):
        command = f"{tool} {target}"
        yield Declared(
            command, commands_behind(command, lambda path: readable_text(root, path) or None), f"{file}: {target}"
        )


def _names(root: Path, files: tuple[str, ...], pattern: re.Pattern[str]) -> set[str]:
    text = next((text for name in files if (text := readable_text(root, name))), "")
    return {target for names in pattern.findall(text) for target in names.split()}


def _tox(root: Path) -> tuple[list[str], str]:
    """The lines of `commands` of tox's default environment, its substitutions made; empty where one cannot be."""
    for name, section in (("tox.ini", "testenv"), ("setup.cfg", "testenv")):
        if (found := _ini(readable_text(root, name), section)) is not None:
            return _substituted(found), f"{name}: {section}"
    pyproject = toml_of(root, "pyproject.toml")
    legacy = table(pyproject, "tool", "tox").get("legacy_tox_ini")
    if isinstance(legacy, str) and (found := _ini(legacy, "testenv")) is not None:
        return _substituted(found), "pyproject.toml: tool.tox"
    for name, tables in (("tox.toml", toml_of(root, "tox.toml")), ("pyproject.toml", table(pyproject, "tool", "tox"))):
        base = table(tables, "env_run_base")
        if isinstance(base.get("commands"), list) and not base.get("change_dir"):
            return _substituted([_joined(words) for words in base["commands"]]), f"{name}: env_run_base"
    return [], ""


def _ini(text: str, section: str) -> list[str] | None:
    """The command lines of a section of tox.ini; None without any."""
    parser = ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except (Error, tomllib.TOMLDecodeError):
        return None
    if not parser.has_option(section, "commands") or parser.has_option(section, "changedir"):
        return None
    text = (parser.get(section, "commands") or "").replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]


def _joined(words: Any) -> str:
    """A command of tox.toml: words, and tables that stand for the arguments a person may add."""
    if not isinstance(words, list):
        return ""
    parts: list[str] = []
    for word in words:
        default = word.get("default", []) if isinstance(word, dict) and word.get("replace") == "posargs" else word
        parts += [each for each in default if isinstance(each, str)] if isinstance(default, list) else [str(default)]
    return shlex.join(parts).replace("'{", "{").replace("}'", "}")


def _substituted(lines: list[str]) -> list[str]:
    """The lines without tox's substitutions: those that only tox knows make the whole unusable."""
    found = [_without_substitutions(line.removeprefix("-").strip()) for line in lines]
    return [] if any("{" in line for line in found) else found


def _without_substitutions(line: str) -> str:
    """A line of tox with what is known put in: paths, defaults, and nothing for arguments a person may add."""
    known = {"envpython": "python", "toxinidir": ".", "tox_root": ".", "posargs": "", "/": "/"}
    line = re.sub(r"\{(?:envbindir|env_bin_dir)\}/", "", line)
    for _ in range(_NESTED):
        line = re.sub(r"\{(?:env:\w+|posargs):([^{}]*)\}", r"\1", line)
        line = re.sub(r"\{(\w+|/)\}", lambda match: known.get(match[1], match[0]), line)
    return line.strip()


def _nox(root: Path) -> tuple[list[str], str]:
    """What the session that runs the tests hands to `session.run`."""
    try:
        tree = ast.parse(readable_text(root, "noxfile.py"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [], ""
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        if _SESSIONS.fullmatch(function.name):
            lines = [line for node in ast.walk(function) if (line := _of_session(node))]
            return [line for line in lines if unwrap(line).purpose == "test"], f"noxfile.py: {function.name}"
    return [], ""


def _of_session(node: ast.AST) -> str:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="session"), attr="run"), args=arguments):
            words = [each.value for each in arguments if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            return shlex.join(words)
        case _:
            return ""


def assignments_of(line: str) -> str:
    """The variables set in front of a command, as they have to be typed; empty where there are none."""
    found = _ASSIGNMENTS.match(line)
    return found[0] if found else ""


def module_and_arguments(line: str) -> tuple[str, str]:
    """What `python -m` is given in a plain test command, and what follows; empty where it is no module of Python.

    What stands in front to run it in an environment (`uv run`) is left out, for the environment is found anew.
    """
    words = words_of(_WITHIN.sub("", line.removeprefix(assignments_of(line))))
    if not words:
        return "", ""
    name = Path(words[0]).name
    if re.fullmatch(r"python[\d.]*", name) and words[1:2] == ["-m"] and len(words) > 2:  # noqa: PLR2004  after `-m`
        return words[2], shlex.join(words[3:])
    if name in {"pytest", "py.test"}:
        return "pytest", shlex.join(words[1:])
    return "", ""
