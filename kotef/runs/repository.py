"""Settings that a repository asks for, and those that take effect."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kotef.checks.detect import CONFIGURATION
from kotef.checks.project_config import table, toml_of
from kotef.errors import SpecError
from kotef.runs.base_branch import settings_place
from kotef.runs.config import UserConfig, is_trusted, untrusted
from kotef.sandbox import Wanted

_STRICTNESS: Final[dict[Wanted, int]] = {"off": 0, "landlock": 1, "auto": 2, "bwrap": 3, "strict": 4}
FIELDS: Final = {
    "base_url": "base_url",
    "coder": "coder",
    "env.pass": "passed",
    "model": "model",
    "sandbox.level": "level",
    "sandbox.network": "network",
    "sandbox.read": "reads",
    "setup.commands": "setup",
}
"""Setting → field; each needs trust."""
_FREE: Final = frozenset({"checks"})
_KEYS: Final = frozenset({"api_key", "api_key_env", "openai_api_key"})


class Settings(BaseModel):
    """The settings of `.sdd/kotef.toml` in effect, except checks."""

    model_config = ConfigDict(frozen=True)

    base_url: str = Field(default="", pattern=r"^$|^https?://")
    """Like `model` and `coder`, counts only if neither the command line nor the user's configuration sets it."""
    model: str = ""
    coder: str = ""
    level: Wanted | None = None
    network: bool | None = None
    reads: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    """Names of environment variables that commands get although they may be secrets."""
    setup: tuple[str, ...] = ()
    """Command lines that prepare the workspace."""


@dataclass(frozen=True, slots=True)
class RepositorySettings:
    """A workspace and its settings."""

    root: Path
    place: Path
    """Where its settings are read; see `settings_place`."""
    settings: Settings
    read_from: tuple[str, ...]
    """A line that says where, unless it is the workspace."""
    ignored: Mapping[str, str]
    """Setting → why it has no effect."""

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices for the person about the settings."""
        return (*self.read_from, *self.told_ignored())

    def told_ignored(self, *groups: str) -> tuple[str, ...]:
        """A line for each reason with its settings; limited to `groups`, if given."""
        named: dict[str, list[str]] = {}
        for name, why in self.ignored.items():
            if not groups or name.startswith(groups):
                named.setdefault(why, []).append(name)
        return tuple(
            f"{_file(names[0])}: {', '.join(names)} {'is' if len(names) == 1 else 'are'} ignored: {why}"
            for why, names in named.items()
        )


def repository_of(
    root: Path, config: UserConfig, *, trust: bool, env: Mapping[str, str] = os.environ
) -> RepositorySettings:
    """The settings in effect, with a line for each that is not.

    An untrusted repository can only narrow: less network, a stricter sandbox. Raises `SpecError` for a file, or a
    setting in effect, that cannot be used as it stands.
    """
    place, read_from = settings_place(root, env)
    settings = dict(_named_settings(toml_of(place, CONFIGURATION)))
    trusted = is_trusted(root, config, trust=trust, at=place)
    effective: dict[str, Any] = {}
    ignored: dict[str, str] = {}
    for name, value in settings.items():
        if name in _FREE:
            continue
        if name.rpartition(".")[2] in _KEYS:
            ignored[name] = "keys come from the environment, never from a repository"
        elif name.partition(".")[0] == "extensions":
            ignored[name] = (
                "extensions are chosen by the user's configuration or the environment, never by a repository"
            )
        elif name not in FIELDS:
            ignored[name] = "no such setting"
        elif trusted or _narrows(name, value, config):
            effective[name] = value
        else:
            ignored[name] = untrusted(root, at=place)
    for name in sorted(table(toml_of(place, "pyproject.toml"), "tool", "kotef").keys() - _FREE):
        ignored[f"tool.kotef.{name}"] = f"it belongs in {CONFIGURATION}"
    return RepositorySettings(root, place, _read(effective), read_from, ignored)


def _file(name: str) -> str:
    """The file of a setting with this name."""
    return "pyproject.toml" if name.startswith("tool.kotef.") else CONFIGURATION


def _named_settings(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each setting with its full name: `sandbox.network`."""
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{below}", one) for below, one in value.items())
        else:
            yield name, value


def _narrows(name: str, value: object, config: UserConfig) -> bool:
    if name == "sandbox.network":
        return value is False
    wanted = _STRICTNESS[config.sandbox.level or "auto"]
    return name == "sandbox.level" and isinstance(value, str) and _STRICTNESS.get(value, -1) > wanted  # type: ignore[call-overload]


def _read(effective: Mapping[str, Any]) -> Settings:
    names = {FIELDS[name]: name for name in effective}
    try:
        return Settings.model_validate({FIELDS[name]: value for name, value in effective.items()})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = names.get(str(first["loc"][0]), "")
        raise SpecError(CONFIGURATION, f"{where}: {first['msg']}", hint="fix the setting") from error
