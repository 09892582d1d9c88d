"""Settings in effect, each with its origin, for `kotef config show`."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kotef.checks.detect import CONFIGURATION, collect_checks
from kotef.checks.project_config import text_of, toml_of
from kotef.checks.types import Check
from kotef.coders.chain import WITH_MODEL, WITHOUT_MODEL
from kotef.errors import ExtensionError, UsageError
from kotef.redaction import shown_url
from kotef.runs.config import UserConfig, config_path, is_trusted
from kotef.runs.extension_setup import checks_of, extensions_of
from kotef.runs.prepare import spec_of
from kotef.runs.repository import FIELDS, RepositorySettings, repository_of
from kotef.runs.result import Camel
from kotef.runs.run_settings import MODEL_SETTINGS, VARIABLES, RunSettings, run_settings
from kotef.settings import Limits, ProfileName

DEFAULT: Final = "default"
NOT_SET: Final = "not set"
SET: Final = "set"
KEY: Final = "OPENAI_API_KEY"

_HEADER: Final = re.compile(r"\[([^\[\]]+)\]\s*(?:#.*)?$")


class EffectiveSetting(Camel):
    """One setting."""

    name: str
    value: Any
    """For a secret only `set` or `not set`; null if there is no value."""
    origin: str
    """`default`, `profile strict`, `environment KOTEF_MODEL`, or a file and the line in it."""
    ignored: str = ""
    """Why it has no effect; empty if it has."""


class InEffect(Camel):
    """The data of `kotef config show`."""

    schema_version: int = 1
    user_file: str
    """The user's configuration, whether or not it exists."""
    user_file_exists: bool
    trusted: bool
    """Whether the repository's settings count without `--trust`."""
    settings: tuple[EffectiveSetting, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sources:
    """Where settings come from."""

    env: Mapping[str, str]
    config: UserConfig
    user_file: Path
    users: str
    """The text of the user's configuration."""
    repository: RepositorySettings
    theirs: str
    """The text of the repository's settings."""
    settings: RunSettings
    profile: ProfileName

    def origin(self, name: str) -> str:
        """Where the value of a setting comes from, as a person reads it."""
        match self.settings[name].origin:
            case "environment":
                return f"environment {VARIABLES[name]}"
            case "user":
                return self.of_user(name)
            case "repository":
                return self.of_repository(name)
            case "profile":
                return f"profile {self.profile}"
            case origin:
                return origin

    def of_user(self, name: str) -> str:
        """File and line of a setting in the user's configuration."""
        return _at(str(self.user_file), self.users, name)

    def of_repository(self, name: str) -> str:
        """File and line of a setting in the repository."""
        return _at(CONFIGURATION, self.theirs, name)


def in_effect(
    root: Path, config: UserConfig, *, trust: bool, profile: ProfileName = "strict", env: Mapping[str, str] = os.environ
) -> InEffect:
    """Every setting of a run started here without options; `trust` acts like `--trust`."""
    repository = repository_of(root, config, trust=trust, env=env)
    user_file = config_path(env)
    found = run_settings({}, config, repository.settings, profile=profile, env=env)
    theirs = text_of(repository.place, CONFIGURATION)
    sources = _Sources(env, config, user_file, _text(user_file), repository, theirs, found, profile)
    more, unusable = _extension_checks(root, found)
    settings = (
        *_models(sources),
        _setting("extensions.enable", sources),
        _setting("extensions.disable", sources),
        *_confinement(sources),
        *_of_repository(sources),
        *_checks(root, repository, more),
        *_limits(sources),
        *_per_model(sources),
        *_ignored(sources),
    )
    return InEffect(
        user_file=str(user_file),
        user_file_exists=user_file.exists(),
        trusted=is_trusted(root, config, trust=trust, at=repository.place),
        settings=settings,
        notices=(*repository.read_from, *unusable),
    )


def _text(user_file: Path) -> str:
    return user_file.read_text(encoding="utf-8") if user_file.exists() else ""


def _models(sources: _Sources) -> Iterator[EffectiveSetting]:
    """Settings of models. The environment counts like an option; then the user's file, then the repository's."""
    config = sources.config
    for name in MODEL_SETTINGS:
        value = sources.settings.value(name) or _default(name, sources)
        shown_value = (shown_url(value) if name == "base_url" else value) or None
        yield EffectiveSetting(name=name, value=shown_value, origin=sources.origin(name))
    yield _secret("api_key", KEY, sources.env)
    for name, endpoint in config.endpoints.items():
        place = sources.of_user(f"endpoints.{name}.base_url")
        yield EffectiveSetting(name=f"endpoints.{name}.base_url", value=shown_url(endpoint.base_url), origin=place)
        if endpoint.api_key_env:
            yield _secret(f"endpoints.{name}.api_key", endpoint.api_key_env, sources.env)
    yield _setting("tools", sources)


def _default(name: str, sources: _Sources) -> str:
    if name != "coder":
        return ""
    reachable = sources.env.get(KEY) or sources.settings.value("base_url")
    return WITH_MODEL if reachable else WITHOUT_MODEL


def _setting(name: str, sources: _Sources) -> EffectiveSetting:
    return EffectiveSetting(name=name, value=sources.settings.value(name), origin=sources.origin(name))


def _secret(name: str, variable: str, env: Mapping[str, str]) -> EffectiveSetting:
    return EffectiveSetting(name=name, value=SET if env.get(variable) else NOT_SET, origin=f"environment {variable}")


def _confinement(sources: _Sources) -> Iterator[EffectiveSetting]:
    users, theirs = sources.config.sandbox, sources.repository.settings
    yield _setting("sandbox.level", sources)
    yield _setting("sandbox.network", sources)
    if users.read:
        yield EffectiveSetting(name="sandbox.read", value=list(users.read), origin=sources.of_user("sandbox.read"))
    if theirs.reads:
        yield EffectiveSetting(
            name="sandbox.read", value=list(theirs.reads), origin=sources.of_repository("sandbox.read")
        )


def _of_repository(sources: _Sources) -> Iterator[EffectiveSetting]:
    """Settings that only a repository has."""
    theirs = sources.repository.settings
    for name, value in (("env.pass", theirs.passed), ("setup.commands", theirs.setup)):
        if value:
            yield EffectiveSetting(name=name, value=list(value), origin=sources.of_repository(name))


def _extension_checks(root: Path, settings: RunSettings) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    """The checks of extensions, and why one of them cannot be used."""
    try:
        extensions = extensions_of(root, settings.extensions, "check")
        return checks_of(extensions, root), extensions.notices
    except (ExtensionError, UsageError) as error:
        return (), (str(error),)


def _checks(root: Path, repository: RepositorySettings, more: Sequence[Check]) -> Iterator[EffectiveSetting]:
    spec = spec_of(root, repository.place)
    found = collect_checks(root, options=(), ticket=(), architect=spec.checks, settings=repository.place, more=more)
    places = {"architect": ".sdd/architect.md", "kotef.toml": CONFIGURATION, "pyproject": "pyproject.toml"}
    if not found:
        yield EffectiveSetting(name="checks", value=None, origin=DEFAULT)
    for check in found:
        origin = f"extension {check.source}" if check.origin == "extension" else places.get(check.origin, check.origin)
        yield EffectiveSetting(name=f"checks.{check.name}", value=check.command, origin=origin)


def _limits(sources: _Sources) -> Iterator[EffectiveSetting]:
    for name in Limits.model_fields:
        yield _setting(f"limits.{name}", sources)


def _per_model(sources: _Sources) -> Iterator[EffectiveSetting]:
    config = sources.config
    for table, entries in (("models", config.models), ("prices", config.prices)):
        for model, known in entries.items():
            for name in sorted(known.model_fields_set):
                place = sources.of_user(f"{table}.{model}.{name}")
                yield EffectiveSetting(name=f'{table}."{model}".{name}', value=getattr(known, name), origin=place)


def _ignored(sources: _Sources) -> Iterator[EffectiveSetting]:
    """Ignored settings of the repository; values are shown only for known settings."""
    settings = toml_of(sources.repository.place, CONFIGURATION)
    for name, why in sources.repository.ignored.items():
        place = "pyproject.toml" if name.startswith("tool.kotef.") else sources.of_repository(name)
        value = _value(settings, name) if name in FIELDS else SET
        if name == "base_url":
            value = shown_url(value) if isinstance(value, str) else SET
        yield EffectiveSetting(name=name, value=value, origin=place, ignored=why)


def _value(asked: Mapping[str, Any], name: str) -> Any:
    found: Any = asked
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _at(file: str, text: str, name: str) -> str:
    line = line_of(text, name)
    return f"{file}:{line}" if line else file


def line_of(text: str, name: str) -> int | None:
    """The line of a TOML file that sets `table.key`; None if it is written in another way than one line a setting.

    Of what is in a string of several lines nothing is known: the line is a hint for a person, nothing more.
    """
    table, _, key = name.rpartition(".")
    here = ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if header := _HEADER.match(stripped):
            here = _bare(header[1])
            continue
        left, equals, _ = stripped.partition("=")
        setting = _bare(left)
        if equals and (here, setting) == (table, key):
            return number
        if equals and not here and setting == name:
            return number
    return None


def _bare(dotted: str) -> str:
    """The dotted name without quotes and spaces."""
    return ".".join(part.strip().strip("\"'") for part in re.findall(r"\"[^\"]*\"|'[^']*'|[^.]+", dotted))
