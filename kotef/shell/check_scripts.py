"""Workspace files that check commands run indirectly, through make, npm and scripts."""

import ast
import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from posixpath import basename, dirname, join, normpath
from typing import Final, NamedTuple

from kotef.shell.check_commands import judging_files
from kotef.shell.command_links import words_of
from kotef.shell.command_wrappers import unwrap

Read = Callable[[str], str | None]
"""The baseline's text of a workspace path; None when there is none."""

_DEPTH: Final = 4
"""Scripts called by scripts that are followed."""
_LONGEST: Final = 256 * 1024
"""Characters of a script that are read."""

_MAKE: Final = frozenset({"make", "gmake"})
_NODE: Final = frozenset({"npm", "pnpm", "yarn", "bun"})
_JUST: Final = frozenset({"just"})
_JUSTFILES: Final = ("justfile", "Justfile", ".justfile")
_MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")
_WHOLE: Final[dict[str, tuple[str, ...]]] = {
    "tox": ("tox.ini", "tox.toml"),
    "nox": ("noxfile.py",),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "pre-commit": (".pre-commit-config.yaml",),
}
"""Starters whose files are read as a whole."""

_RULE: Final = re.compile(r"(?P<targets>[\w./ -]+?)(?P<arguments>(?: [\w=*+'\"-]+)*) ?::?(?![=:])(?P<needs>[^=#\n]*)")
_PREFIX: Final = re.compile(r"(?:[@+-]+\s*|\w[\w-]*\s*[:=]\s+|(?:then|do|else|exec|if|!)\s+|[\"'\[{(]+)")
_KEYWORD: Final = re.compile(r"(?<=[;&|\s])\s*(?:then|do|else|elif|!)\s+")
_ELSEWHERE: Final = re.compile(r"(?:^|[\s;&|])(?:cd|make -C|npm --prefix)\s+([^\s;&|]+)")
_SOURCED: Final = re.compile(
    r"(?:^|[;&|({]|\b(?:then|do|else))\s*(?:\.|source)\s+(\"[^\"]*\"?|(?:\$\([^)]*\)|[^\s;&|])+)"
)
_INCLUDES: Final = re.compile(r"^ *[-s]?include +([^#\n]+)", re.MULTILINE)
_SHELL_SUFFIXES: Final = (".sh", ".bash", ".zsh")


class Behind(NamedTuple):
    """What check commands come to read."""

    found: frozenset[str]
    """Files that are there."""
    awaited: frozenset[str]
    """Files, some as globs, that scripts source and makefiles include, there or not."""


class _Rule(NamedTuple):
    """What a target needs, and what makes it."""

    needs: list[str]
    recipe: list[str]


def names_behind(commands: Iterable[str], read: Read) -> Behind:
    """The files the commands are made of, and what those call in turn, as far as a few levels of reading show.

    Followed are make and just targets with what they need, what makefiles include, npm scripts with their hooks, tox,
    nox, task and pre-commit files as a whole, shell scripts and what they source, and the modules beside a script of a
    directory of its own.
    """
    found: set[str] = set()
    awaited: set[str] = set()
    pending = [(command, "") for command in commands]
    done: set[tuple[str, str]] = set()
    for _ in range(_DEPTH):
        deeper: list[tuple[str, str]] = []
        for command, directory in pending:
            if (command, directory) in done:
                continue
            done.add((command, directory))
            deeper += _started(command, directory, read)
            awaited.update(_drawn_in(command, directory, read))
            for path in _files(command, directory, read):
                if path not in found:
                    found.add(path)
                    deeper += [(line, "") for line in _lines(path, read)]
                    found.update(_beside(path, read))
        pending = deeper
    found.update(path for path in awaited if path not in found and read(path) is not None)
    return Behind(frozenset(found), frozenset(awaited))


def commands_behind(command: str, read: Read) -> tuple[str, ...]:
    """The command lines that a starter (`make`, `just`, a package manager) runs for this one; empty for no starter."""
    return tuple(line for line, _ in _started(command, "", read) if line and not line.startswith("#"))


def _drawn_in(command: str, directory: str, read: Read) -> Iterator[str]:
    """Names that a command sources, or that the makefile it starts includes, seen from where it is run."""
    names = [name.strip("'\"") for name in _SOURCED.findall(command)]
    if set(unwrap(command).tools) & _MAKE:
        elsewhere = _ELSEWHERE.search(command)
        directory = normpath(join(directory, elsewhere[1].strip("'\""))) if elsewhere else directory
        names += _included(directory, read)
    for name in names:
        if "$" in name:
            last = basename(name)  # of a directory that is known at run time only, whichever it is
            yield from () if "$" in last or not last else (f"**/{last}",)
        elif name and not name.startswith("/"):
            yield normpath(join(directory, name))


def _included(directory: str, read: Read) -> list[str]:
    """What the makefile of a directory includes, and what that includes."""
    texts = [text for name in _MAKEFILES if (text := read(join(directory, name))) is not None][:1]
    names: list[str] = []
    for _ in range(_DEPTH):
        fresh = [name for text in texts for line in _INCLUDES.findall(text[:_LONGEST]) for name in line.split()]
        texts = [text for name in fresh if name not in names and (text := read(normpath(join(directory, name))))]
        names += fresh
    return list(dict.fromkeys(names))


def _files(command: str, directory: str, read: Read) -> Iterator[str]:
    """The files of a command that are there, seen from the directory it is run in or from the root."""
    for path in judging_files(command):
        for place in dict.fromkeys((normpath(join(directory, path)), path)):
            if read(place) is not None:
                yield place
                break


def _started(command: str, directory: str, read: Read) -> Iterator[tuple[str, str]]:
    """The commands that a starter runs for this command line, and where."""
    tools = set(unwrap(command).tools)
    words = words_of(command)
    if elsewhere := _ELSEWHERE.search(command):
        directory = normpath(join(directory, elsewhere[1].strip("'\"")))

    lines: list[str] = []
    for starter, names in ((_MAKE, _MAKEFILES), (_JUST, _JUSTFILES)):
        if tools & starter:
            lines += _recipes(_first_text(directory, names, read), words)
    if tools & _NODE:
        lines += _scripts(read(join(directory, "package.json")) or "", words)
    for tool, whole in _WHOLE.items():
        if tool in tools:
            lines += [line for name in whole for line in _lines(join(directory, name), read)]
    yield from ((line, directory) for line in lines)


def _first_text(directory: str, names: Iterable[str], read: Read) -> str:
    """The first of the files that is there."""
    texts = (read(join(directory, name)) for name in names)
    return next((text for text in texts if text is not None), "")


def _recipes(text: str, words: Iterable[str]) -> Iterator[str]:
    """Recipe lines of the targets among the words and of what they need; of the first target if none is named."""
    rules: dict[str, _Rule] = {}
    current: list[_Rule] = []
    for line in text[:_LONGEST].replace("\\\n", " ").splitlines():
        if line[:1] in {"\t", " "}:
            for rule_of in current:
                rule_of.recipe.append(line.strip())
        elif rule := _RULE.match(line):
            needs, _, inline = rule["needs"].partition(";")
            targets = rule["targets"].split()
            current = [rules.setdefault(target, _Rule([], [])) for target in targets]
            for rule_of in current:
                rule_of.needs.extend(needs.split())
                rule_of.recipe.extend([inline.strip()] if inline else [])
    first = next((target for target in rules if not target.startswith(".")), "")
    wanted = [word for word in words if word in rules] or [first]
    seen: set[str] = set()
    while wanted:
        target = wanted.pop()
        if target in rules and target not in seen:
            seen.add(target)
            wanted += rules[target].needs
            yield from (_bare(line) for line in rules[target].recipe)


def _scripts(text: str, words: list[str]) -> Iterator[str]:
    """What the scripts of package.json among the words run, with what npm runs before and after them."""
    try:
        scripts = json.loads(text).get("scripts", {}) if text else {}
    except (ValueError, AttributeError, RecursionError):
        return
    if isinstance(scripts, dict):
        names = {"test" if word in {"t", "tst"} else word for word in words} & scripts.keys()
        for name in sorted(names):
            for hooked in (f"pre{name}", name, f"post{name}"):
                if isinstance(line := scripts.get(hooked), str):
                    yield line


def _lines(path: str, read: Read) -> Iterator[str]:
    """The lines of a script that may be commands; of a Python file, what it hands to other programs."""
    text = (read(path) or "")[:_LONGEST]
    if path.endswith(".py"):
        yield from _calls(text)
    elif (
        path.endswith((*_SHELL_SUFFIXES, ".ini", ".toml", ".yml", ".yaml"))
        or text.startswith("#!")
        or "." not in basename(path)
    ):
        for line in text.replace("\\\n", " ").splitlines():
            if (bare := _bare(line)) and not bare.startswith("#"):
                yield bare


def _bare(line: str) -> str:
    """The line without what make, YAML, INI and the shell put in front of a command."""
    line = _KEYWORD.sub(" ", line.strip())
    while match := _PREFIX.match(line):
        line = line[match.end() :]
    line = line.replace("$(MAKE)", "make").replace("${MAKE}", "make").lstrip("\"'])} ,")
    while line and line[-1] in "\"'])} ," and not _is_closed(line):
        line = line[:-1]
    return line


def _is_closed(line: str) -> bool:
    """Whether what the last character closes was opened in the line: `"$(./greet Ada)"`, not `./greet Ada"]`."""
    last = line[-1]
    if last in "\"'":
        return line.count(last) % 2 == 0
    opening = {")": "(", "]": "[", "}": "{"}.get(last)
    return opening is not None and line.count(opening) >= line.count(last)


def _calls(text: str) -> Iterator[str]:
    """The strings of each call and list of a Python file, put together as a command line."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Call(args=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
                pass
            case _:
                continue
        words = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if words:
            yield words[0] if len(words) == 1 else shlex.join(words)


def _beside(path: str, read: Read) -> Iterator[str]:
    """Modules that a Python script imports from its own directory, if that is not the project's root or a package."""
    directory = dirname(path)
    if not path.endswith(".py") or not directory or read(join(directory, "__init__.py")) is not None:
        return
    try:
        tree = ast.parse((read(path) or "")[:_LONGEST])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return

    for name in _imported_names(tree):
        beside = join(directory, f"{name.split('.')[0]}.py")
        if read(beside) is not None:
            yield beside


def _imported_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                yield from (alias.name for alias in aliases)
            case ast.ImportFrom(module=str(module), level=0):
                yield module
            case _:
                pass
