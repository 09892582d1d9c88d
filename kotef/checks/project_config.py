"""Readers for the configuration files of a project."""

import json
import re
import tomllib
from configparser import ConfigParser, Error
from pathlib import Path
from typing import Any

from kotef.errors import SpecError
from kotef.files import read_inside, read_within
from kotef.workspace import LARGEST_FILE


def text_of(root: Path, name: str) -> str:
    """A file of the workspace as text; empty when there is none.

    A link may lead to another place inside the workspace; below `.sdd` no link is followed. Raises `SpecError` when
    the file cannot be read as UTF-8.
    """
    path = root / name
    read = read_within if name.startswith(".sdd/") else read_inside
    try:
        return read(root, name, largest=LARGEST_FILE).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""
    except UnicodeDecodeError as error:
        raise SpecError(path, f"not UTF-8 at byte {error.start}", hint="save the file as UTF-8") from error
    except OSError as error:
        raise SpecError(path, f"cannot be read: {error.strerror}", hint="make it a readable file") from error


def readable_text(root: Path, name: str) -> str:
    """The same of a file that kotef only takes hints from; empty if it cannot be read, for whatever reason."""
    try:
        return text_of(root, name)
    except SpecError:
        return ""


def toml_of(root: Path, name: str) -> dict[str, Any]:
    """The tables of a TOML file; empty when there is none. Raises `SpecError` with file and line."""
    path, text = root / name, text_of(root, name)
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = re.search(r"at line (\d+)", str(error))
        at = line[1] if line else text.count("\n") + 1
        deep = isinstance(error, RecursionError)
        problem = "nested too deeply" if deep else re.sub(r" \(at .*\)$", "", str(error))
        raise SpecError(f"{path}:{at}", f"broken TOML: {problem}", hint="correct that line") from error


def json_of(root: Path, name: str) -> dict[str, Any]:
    """The object in a JSON file; empty when there is none. Raises `SpecError` with file and line."""
    path, text = root / name, text_of(root, name)
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        deep = (1, "nested too deeply")
        line, problem = (error.lineno, error.msg) if isinstance(error, json.JSONDecodeError) else deep
        raise SpecError(f"{path}:{line}", f"broken JSON: {problem}", hint="correct that line") from error
    if not isinstance(value, dict):
        raise SpecError(f"{path}:1", "is not a JSON object", hint="the file must start with {")
    return value


def ini_sections(root: Path, name: str) -> frozenset[str]:
    """Names of the sections of an INI file; what configparser cannot read is left to the tool that owns the file."""
    parser = ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(text_of(root, name))
    except Error:
        return frozenset()
    return frozenset(parser.sections())


def table(tables: dict[str, Any], *names: str) -> dict[str, Any]:
    """A table by its path (`tool`, `mypy`); empty when there is none."""
    for name in names:
        inner = tables.get(name)
        tables = inner if isinstance(inner, dict) else {}
    return tables
