"""Secrets in the login and settings files of external agents."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from kotef.redaction import KnownSecret, assigned_secrets, secrets_of_environment

LARGEST: Final = 1024 * 1024
"""Bytes of a file that is read."""

_PARSERS: Final[Mapping[str, Callable[[str], Any]]] = {".json": json.loads, ".toml": tomllib.loads}
_VARIABLE: Final = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
"""A value that names the variable of a secret: `env_key = "OPENAI_API_KEY"`."""
_HEADER: Final = re.compile(r"authorization|cookie", re.IGNORECASE)
"""An authentication scheme before the secret: `Bearer ...`."""
_NAME: Final = re.compile(r"""^([ \t]*)(?:-[ \t]+)?["']?([A-Za-z_][\w.-]*)["']?(?=[ \t]*[=:])""", re.MULTILINE)
_BETWEEN: Final = re.compile(r"""[\[\]{},\s'"]+""")


def secrets_in(path: Path) -> Iterator[str]:
    """The values whose names say that they are secret, and passwords in addresses; none where it cannot be read.

    Unlike in a `.env` file of the workspace nothing else is one: the name of a model is in these files, and is shown.
    """
    for name, value in _settings(path):
        if not _VARIABLE.fullmatch(value):
            yield from (secret for _, secret in secrets_of_environment({name: value}))


def _settings(path: Path) -> Iterator[KnownSecret]:
    with suppress(OSError):
        if not path.is_file() or path.stat().st_size > LARGEST:
            return
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        for name, value in _read(text, path.suffix):
            yield from _given(name, value)


def _read(text: str, suffix: str) -> list[KnownSecret]:
    """Each setting of a file; read line by line if no other format fits."""
    if parse := _PARSERS.get(suffix):
        with suppress(ValueError, RecursionError):
            return list(_leaves(parse(text)))
    return [*assigned_secrets(_NAME.sub(r"\1\2", text)), *_listed(text)]


def _leaves(value: Any, name: str = "") -> Iterator[KnownSecret]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(one, str(key))
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one, name)
    elif isinstance(value, str):
        yield name, value


def _listed(text: str) -> Iterator[KnownSecret]:
    """The members of lists in YAML, by the name above them."""
    above = ""
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("- "):
            yield above, bare[2:].partition(" #")[0].strip(" \t\"'")
        elif bare and not bare.startswith("#"):
            above = bare.partition(":")[0]


def _given(name: str, value: str) -> Iterator[KnownSecret]:
    """A setting, and names assigned within its value: `gemini=KEY`, `--token=KEY`, `?token=KEY`."""
    yield name, value
    if _HEADER.search(name):
        yield "token", value.strip().rpartition(" ")[2]
    for part in _BETWEEN.split(value):
        inner, _, rest = part.partition("=")
        if rest:
            yield from ((name, rest), (inner, rest))
