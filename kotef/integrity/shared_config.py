"""Tables in shared configuration files (such as `pyproject.toml`) that judge the work, and their restoration."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from configparser import ConfigParser, Error
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any, Final, NamedTuple

Keys = tuple[str, ...]

_TOML: Final[tuple[Keys, ...]] = (
    *(
        ("tool", name)
        for name in (
            *("pytest*", "coverage", "tox", "nox", "hypothesis", "mutmut", "behave", "nose*", "unittest*", "doctest*"),
            *("ruff", "flake8", "flake8-*", "pylint*", "pycodestyle", "pydocstyle", "bandit", "vulture", "deptry"),
            *("mypy", "mypy-*", "pyright", "basedpyright", "pytype", "pyre", "ty", "pydantic-mypy", "django-stubs"),
            *("black", "isort", "yapf", "autopep8", "docformatter", "codespell", "typos", "interrogate"),
            *("importlinter", "kotef", "taskipy", "poe", "poethepoet", "refurb", "sqlfluff", "djlint"),
        )
    ),
    *(("tool", "hatch", name) for name in ("envs", "env")),
    *(("tool", name, "scripts") for name in ("pdm", "rye")),
    *(("tool", "pixi", name) for name in ("tasks", "feature")),
    *(("tool", "poetry", "plugins", name) for name in ("pytest11", "flake8.*")),
    *(("project", "entry-points", name) for name in ("pytest11", "flake8.*")),
)
"""pyproject.toml: test runners, linters, type checkers, formatters, and what starts them; parts may be globs."""

_JSON: Final[tuple[Keys, ...]] = tuple(
    (name,)
    for name in (
        *("jest", "vitest", "mocha", "ava", "tap", "nyc", "c8", "jasmine", "karma", "cypress", "playwright", "tsd"),
        *("eslintConfig", "eslintIgnore", "prettier", "stylelint", "xo", "standard", "babel", "ts-node", "commitlint"),
        *("wireit", "nx", "turbo", "lint-staged", "pre-commit", "simple-git-hooks", "husky"),
    )
)
"""package.json, beside `scripts`, of which those that were there judge, and what npm runs before and after them."""

_CARGO: Final[tuple[Keys, ...]] = (
    *(("test",), ("package", "autotests"), ("profile", "test")),
    *(("lib", name) for name in ("test", "doctest", "harness")),
)
"""Cargo.toml: which tests there are, and whether the usual runner runs them."""

_DENO: Final[tuple[Keys, ...]] = (("test",), ("lint",), ("fmt",))
"""deno.json, beside `tasks`, which are to it what `scripts` are to npm."""

_INI: Final = (
    *("tool:*", "pytest", "mypy", "mypy-*", "flake8", "flake8:*", "coverage:*", "isort", "pylint*", "pycodestyle"),
    *("pydocstyle", "pep8", "yapf", "bandit", "doc8", "tox", "tox:*", "testenv", "testenv:*", "aliases", "nosetests"),
    *("DEFAULT", "behave", "behave.*", "importlinter", "importlinter:*", "codespell", "interrogate", "rstcheck"),
)
"""Sections of setup.cfg."""

_PLUGIN: Final = re.compile(r"pytest11|flake8\.")
"""In setup.cfg the entry points of every kind are one section."""

_HEADER: Final = re.compile(r"^\[([^\]\n]*)\][^\n]*(?:\n|\Z)", re.MULTILINE)


class Spliced(NamedTuple):
    """What a shared file has to be when it judges."""

    content: bytes
    tables: tuple[str, ...]
    """The tables put back, as a reader names them (`tool.pytest.ini_options`); empty when the whole file is."""


class _UnreadableError(Exception):
    """The file, before or now, is not what its name says."""


def put_tables_back(path: str, before: bytes | None, now: bytes) -> Spliced | None:
    """`now` with its judging tables as in `before`, and all else, comments and order included, as it is.

    None when the tables are as before already. `before` is None for a file that was not there: it had no tables. A
    file that cannot be read any more, or could not be before, is put back whole (a new one is left to its tool).
    """
    format_ = _FORMATS[path.rpartition("/")[2]]
    try:
        old = format_.tables(before) if before is not None else {}
    except _UnreadableError:
        return Spliced(before or b"", ()) if before != now else None
    try:
        new = format_.tables(now)
    except _UnreadableError:
        return Spliced(before, ()) if before is not None else None
    judged = format_.judging(old, old, new), format_.judging(new, old, new)
    if judged[0] == judged[1]:
        return None
    wanted = _without(new, {keys: value for keys, value in judged[1].items() if keys not in judged[0]})
    for keys, value in judged[0].items():
        _set(wanted, keys, value)
    for content in format_.splices(before or b"", now, judged[0], judged[1], wanted):
        try:
            tables = format_.tables(content)
            if _filled(tables) == _filled(wanted) and format_.judging(tables, old, tables) == judged[0]:
                return Spliced(content, _names(*judged))
        except _UnreadableError:
            continue
    return Spliced(before, ()) if before is not None else None


class _Toml:
    """pyproject.toml and Cargo.toml."""

    def __init__(self, patterns: tuple[Keys, ...]) -> None:
        self._patterns = patterns

    @staticmethod
    def tables(content: bytes) -> dict[str, Any]:
        try:
            return tomllib.loads(content.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise _UnreadableError from error

    def judging(self, tables: Mapping[str, Any], *_: Mapping[str, Any]) -> dict[Keys, Any]:
        return {keys: value for pattern in self._patterns for keys, value in _found(tables, pattern)}

    @staticmethod
    def splices(
        before: bytes, now: bytes, old: Mapping[Keys, Any], new: Mapping[Keys, Any], wanted: dict[str, Any]
    ) -> Iterator[bytes]:
        """The text with tables exchanged; where TOML's freedom defeats that, the same tables without comments."""
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        try:
            document, source = (tomlkit.parse(text.decode("utf-8-sig")) for text in (now, before))
            changed = {keys for keys in {*old, *new} if old.get(keys) != new.get(keys)}
            for keys in sorted(changed):
                if keys not in old:
                    _drop(document, keys)
                else:
                    _put(document, source, keys)
            yield document.as_string().encode()
        except (TOMLKitError, KeyError, TypeError, ValueError, AttributeError):
            pass  # tables written in pieces, which tomlkit does not always put together
        yield tomlkit.dumps(wanted).encode()


class _Json:
    """package.json, composer.json and deno.json, with the name of their table of commands."""

    def __init__(self, patterns: tuple[Keys, ...], commands: str) -> None:
        self._patterns = patterns
        self._commands = commands

    @staticmethod
    def tables(content: bytes) -> dict[str, Any]:
        try:
            value = json.loads(content.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise _UnreadableError from error
        if not isinstance(value, dict):
            raise _UnreadableError
        return value

    def judging(self, tables: Mapping[str, Any], old: Mapping[str, Any], _: Mapping[str, Any]) -> dict[Keys, Any]:
        """The earlier commands, and those that would run before and after them."""
        found = {keys: value for pattern in self._patterns for keys, value in _found(tables, pattern)}
        key = self._commands
        commands, known = tables.get(key, {}), old.get(key, {})
        if not isinstance(commands, dict) or not isinstance(known, dict):
            return found | ({(key,): commands} if key in tables else {})
        hooks = {f"{when}{name}" for name in known for when in ("pre", "post", "pre-", "post-")}
        return found | {(key, name): commands[name] for name in commands if name in known or name in hooks}

    @staticmethod
    def splices(
        before: bytes, now: bytes, old: Mapping[Keys, Any], new: Mapping[Keys, Any], wanted: dict[str, Any]
    ) -> Iterator[bytes]:
        """The object rewritten with the file's own indentation; JSON has no comments to lose."""
        del before, old, new
        text = now.decode("utf-8-sig")
        indent = re.search(r"\{\r?\n([ \t]+)\"", text)
        plain = text.isascii() or bool(re.search(r"\\u[dD][89a-fA-F]", text))
        made = json.dumps(wanted, indent=indent[1] if indent else None, ensure_ascii=plain)
        if "\r\n" in text:
            made = made.replace("\n", "\r\n")
        yield (made + text[len(text.rstrip()) :]).encode()


class _Ini:
    """setup.cfg."""

    @staticmethod
    def tables(content: bytes) -> dict[str, Any]:
        """Sections as configparser reads them, each with its text under `""`, for other readers differ in details."""
        parser = ConfigParser(interpolation=None, strict=False, allow_no_value=True, default_section="")
        parser.optionxform = str  # type: ignore[assignment,method-assign]  # the documented way to keep case
        try:
            text = content.decode("utf-8-sig").replace("\r\n", "\n")
            parser.read_string(text)
        except (Error, ValueError, AttributeError) as error:  # a continuation line of an option without a value
            raise _UnreadableError from error
        tables: dict[str, Any] = {name: {"": "", **parser[name]} for name in parser.sections()}
        for name, piece in _sections(text):
            if name in tables:
                tables[name][""] = f"{tables[name]['']}\n{piece.strip()}".strip()
        return tables

    @staticmethod
    def judging(tables: Mapping[str, Any], old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[Keys, Any]:
        found = {keys: value for pattern in _INI for keys, value in _found(tables, (pattern,))}
        points = "options.entry_points"
        plugins = any(_PLUGIN.match(option) for side in (old, new) for option in side.get(points, {}))
        return found | ({(points,): tables[points]} if plugins and points in tables else {})

    @staticmethod
    def splices(
        before: bytes, now: bytes, old: Mapping[Keys, Any], new: Mapping[Keys, Any], wanted: dict[str, Any]
    ) -> Iterator[bytes]:
        """The text of whole sections exchanged, each where it stood; what is missing goes to the end."""
        del wanted
        judged = {keys[0] for keys in (*old, *new)}
        source: dict[str, str] = {}
        for name, text in _sections(before.decode("utf-8-sig")):
            source[name] = source.get(name, "") + text
        pieces: list[str] = []
        done: set[str] = set()
        for name, text in _sections(now.decode("utf-8-sig")):
            if name not in judged:
                pieces.append(text)
            elif name not in done:
                pieces.append(source.get(name, ""))
                done.add(name)
        pieces.extend(text for name, text in source.items() if name in judged - done)
        whole = ""
        for piece in pieces:
            whole += ("\n" if piece and whole and not whole.endswith("\n") else "") + piece
        yield whole.encode()


_FORMATS: Final[dict[str, _Toml | _Json | _Ini]] = {
    "pyproject.toml": _Toml(_TOML),
    "Cargo.toml": _Toml(_CARGO),
    "package.json": _Json(_JSON, "scripts"),
    "composer.json": _Json((), "scripts"),
    "deno.json": _Json(_DENO, "tasks"),
    "setup.cfg": _Ini(),
}
SHARED: Final = tuple(_FORMATS)
"""Names of the files of which only some tables judge."""


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Name and text of each section, header included; what is before the first has no name. Repeated: joined."""
    starts = [(match.start(), match[1]) for match in _HEADER.finditer(text)]
    yield "", text[: starts[0][0] if starts else len(text)]
    for (start, name), (end, _) in pairwise([*starts, (len(text), "")]):
        yield name, text[start:end]


def _found(tables: Mapping[str, Any], pattern: Keys, above: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Every value whose path fits the pattern."""
    for key, value in tables.items():
        if fnmatchcase(key, pattern[0]):
            if len(pattern) == 1:
                yield (*above, key), value
            elif isinstance(value, Mapping):
                yield from _found(value, pattern[1:], (*above, key))


def _without(tables: Mapping[str, Any], gone: Mapping[Keys, Any]) -> dict[str, Any]:
    """A copy without the values at these paths; a table left empty by that stays."""
    copy: dict[str, Any] = {}
    for key, value in tables.items():
        if (key,) in gone:
            continue
        below = {keys[1:]: kept for keys, kept in gone.items() if keys[0] == key and len(keys) > 1}
        copy[key] = _without(value, below) if below and isinstance(value, Mapping) else value
    return copy


def _filled(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Without tables that hold nothing: formats differ in whether one is left where its last key was."""
    filled = {key: _filled(value) if isinstance(value, Mapping) else value for key, value in tables.items()}
    return {key: value for key, value in filled.items() if value != {}}


def _set(tables: dict[str, Any], keys: Keys, value: Any) -> None:
    for key in keys[:-1]:
        inner = tables.get(key)
        tables[key] = tables = dict(inner) if isinstance(inner, Mapping) else {}
    tables[keys[-1]] = value


def _drop(document: Any, keys: Keys) -> None:
    for key in keys[:-1]:
        document = document[key]
    del document[keys[-1]]


def _put(document: Any, source: Any, keys: Keys) -> None:
    """Put the item at `keys` of `source` there in `document`, with its comments."""
    import tomlkit

    for key in keys[:-1]:
        source = source[key]
        if key not in document:
            document[key] = tomlkit.table(is_super_table=True)
        document = document[key]
    document[keys[-1]] = source.item(keys[-1]) if hasattr(source, "item") else source[keys[-1]]


def _names(old: Mapping[Keys, Any], new: Mapping[Keys, Any]) -> tuple[str, ...]:
    """The smallest tables that hold all differences, one per judging table."""
    changed = sorted({keys for keys in {*old, *new} if old.get(keys) != new.get(keys)})
    return tuple(dict.fromkeys(".".join(_narrowed(keys, old.get(keys), new.get(keys))) for keys in changed))


def _narrowed(keys: Keys, old: Any, new: Any) -> Keys:
    sides = [side if isinstance(side, Mapping) else {} for side in (old, new)]
    different = [key for key in {**sides[0], **sides[1]} if sides[0].get(key) != sides[1].get(key)]
    if len(different) == 1:
        inner = [side.get(different[0]) for side in sides]
        if any(isinstance(side, Mapping) for side in inner):
            return _narrowed((*keys, different[0]), *inner)
    return keys
