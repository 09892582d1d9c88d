"""The settings of a run here, and the origin of each."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kotef.checks.detect import CONFIGURATION, collect_checks
from kotef.checks.project_config import text_of, toml_of
from kotef.coders.chain import WITH_MODEL, WITHOUT_MODEL
from kotef.redaction import shown_url
from kotef.runs.available_tools import TIER
from kotef.runs.config import UserConfig, config_path, is_trusted
from kotef.runs.model_settings import model_settings
from kotef.runs.prepare import spec_of
from kotef.runs.repository import FIELDS, RepositorySettings, repository_of
from kotef.runs.result import Camel
from kotef.runs.sandbox_setup import named_level
from kotef.settings import PROFILES, Limits, ProfileName
from kotef.tools.registry import tier_of

DEFAULT: Final = "default"
NOT_SET: Final = "not set"
SET: Final = "set"
KEY: Final = "OPENAI_API_KEY"

_VARIABLES: Final = {
    "model": "KOTEF_MODEL",
    "base_url": "OPENAI_BASE_URL",
    "coder": "KOTEF_CODER",
    "planner_model": "KOTEF_PLANNER_MODEL",
    "fallback_model": "KOTEF_FALLBACK_MODEL",
}
_HEADER: Final = re.compile(r"\[([^\[\]]+)\]\s*(?:#.*)?$")


class EffectiveSetting(Camel):
    """One setting."""

    name: str
    value: Any
    """Of a secret only `set` or `not set`; null if there is none."""
    origin: str
    """`default`, `profile strict`, `environment KOTEF_MODEL`, or a file and the line in it."""
    ignored: str = ""
    """Why it has no effect; empty where it has."""


class InEffect(Camel):
    """What `kotef config show` tells."""

    schema_version: int = 1
    user_file: str
    """The user's configuration, whether or not it exists."""
    user_file_exists: bool
    trusted: bool
    """Whether what the repository sets counts without `--trust`."""
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

    def env_or(self, variable: str) -> tuple[str, str] | None:
        """A value of the environment; one that is empty is none."""
        value = self.env.get(variable, "").strip()
        return (value, f"environment {variable}") if value else None

    def of_user(self, name: str) -> str:
        """The place of a setting of the user's."""
        return _at(str(self.user_file), self.users, name)

    def of_repository(self, name: str) -> str:
        """The place of a setting of the repository's."""
        return _at(CONFIGURATION, self.theirs, name)


def in_effect(
    root: Path, config: UserConfig, *, trust: bool, profile: ProfileName = "strict", env: Mapping[str, str] = os.environ
) -> InEffect:
    """Every setting of a run that is started here without an option; `trust` is as if by `--trust`."""
    repository = repository_of(root, config, trust=trust, env=env)
    user_file = config_path(env)
    sources = _Sources(env, config, user_file, _text(user_file), repository, text_of(repository.place, CONFIGURATION))
    settings = (
        *_models(sources),
        *_confinement(sources),
        *_of_repository(sources),
        *_checks(root, repository),
        *_limits(profile),
        *_per_model(sources),
        *_ignored(sources),
    )
    return InEffect(
        user_file=str(user_file),
        user_file_exists=user_file.exists(),
        trusted=is_trusted(root, config, trust=trust, at=repository.place),
        settings=settings,
        notices=repository.read_from,
    )


def _text(user_file: Path) -> str:
    return user_file.read_text(encoding="utf-8") if user_file.exists() else ""


def _models(sources: _Sources) -> Iterator[EffectiveSetting]:
    """Who is asked. What the environment says counts as an option; then the user's file, then the repository's."""
    config = sources.config
    given = {name: sources.env.get(variable, "") for name, variable in _VARIABLES.items()}
    for name, setting in model_settings(given, config, sources.repository.settings).items():
        value = setting.value or _default(name, sources)
        match setting.origin:
            case "option":
                origin = f"environment {_VARIABLES[name]}"
            case "user":
                origin = sources.of_user(name)
            case "repository":
                origin = sources.of_repository(name)
            case "default":
                origin = DEFAULT
        yield EffectiveSetting(
            name=name, value=(shown_url(value) if name == "base_url" else value) or None, origin=origin
        )
    yield _secret("api_key", KEY, sources.env)
    for name, endpoint in config.endpoints.items():
        place = sources.of_user(f"endpoints.{name}.base_url")
        yield EffectiveSetting(name=f"endpoints.{name}.base_url", value=shown_url(endpoint.base_url), origin=place)
        if endpoint.api_key_env:
            yield _secret(f"endpoints.{name}.api_key", endpoint.api_key_env, sources.env)
    tier, _ = tier_of(sources.env.get(TIER))
    yield EffectiveSetting(name="tools", value=tier, origin=f"environment {TIER}" if sources.env.get(TIER) else DEFAULT)


def _default(name: str, sources: _Sources) -> str:
    if name != "coder":
        return ""
    reachable = sources.env.get(KEY) or sources.env_or("OPENAI_BASE_URL") or sources.config.base_url
    return WITH_MODEL if reachable or sources.repository.settings.base_url else WITHOUT_MODEL


def _secret(name: str, variable: str, env: Mapping[str, str]) -> EffectiveSetting:
    return EffectiveSetting(name=name, value=SET if env.get(variable) else NOT_SET, origin=f"environment {variable}")


def _confinement(sources: _Sources) -> Iterator[EffectiveSetting]:
    """As `asked_of` decides it: the repository, as far as it counts, comes before the user."""
    users, theirs = sources.config.sandbox, sources.repository.settings
    named = named_level() if sources.env is os.environ else None
    if named:
        yield EffectiveSetting(name="sandbox.level", value=named, origin="environment KOTEF_SANDBOX")
    elif theirs.level:
        yield EffectiveSetting(name="sandbox.level", value=theirs.level, origin=sources.of_repository("sandbox.level"))
    elif users.level:
        yield EffectiveSetting(name="sandbox.level", value=users.level, origin=sources.of_user("sandbox.level"))
    else:
        yield EffectiveSetting(name="sandbox.level", value="auto", origin=DEFAULT)
    if theirs.network is not None:
        yield EffectiveSetting(
            name="sandbox.network", value=theirs.network, origin=sources.of_repository("sandbox.network")
        )
    elif "network" in users.model_fields_set:
        yield EffectiveSetting(name="sandbox.network", value=users.network, origin=sources.of_user("sandbox.network"))
    else:
        yield EffectiveSetting(name="sandbox.network", value=False, origin=DEFAULT)
    if users.read:
        yield EffectiveSetting(name="sandbox.read", value=list(users.read), origin=sources.of_user("sandbox.read"))
    if theirs.reads:
        yield EffectiveSetting(
            name="sandbox.read", value=list(theirs.reads), origin=sources.of_repository("sandbox.read")
        )


def _of_repository(sources: _Sources) -> Iterator[EffectiveSetting]:
    """What only a repository can say."""
    theirs = sources.repository.settings
    for name, value in (("env.pass", theirs.passed), ("setup.commands", theirs.setup)):
        if value:
            yield EffectiveSetting(name=name, value=list(value), origin=sources.of_repository(name))


def _checks(root: Path, repository: RepositorySettings) -> Iterator[EffectiveSetting]:
    spec = spec_of(root, repository.place)
    found = collect_checks(root, options=(), ticket=(), architect=spec.checks, settings=repository.place)
    places = {"architect": ".sdd/architect.md", "kotef.toml": CONFIGURATION, "pyproject": "pyproject.toml"}
    if not found:
        yield EffectiveSetting(name="checks", value=None, origin=DEFAULT)
    for check in found:
        yield EffectiveSetting(
            name=f"checks.{check.name}", value=check.command, origin=places.get(check.origin, check.origin)
        )


def _limits(profile: ProfileName) -> Iterator[EffectiveSetting]:
    limits, usual = PROFILES[profile].limits, Limits()
    for name in Limits.model_fields:
        value = getattr(limits, name)
        origin = DEFAULT if value == getattr(usual, name) else f"profile {profile}"
        yield EffectiveSetting(name=f"limits.{name}", value=value, origin=origin)


def _per_model(sources: _Sources) -> Iterator[EffectiveSetting]:
    config = sources.config
    for table, entries in (("models", config.models), ("prices", config.prices)):
        for model, known in entries.items():
            for name in sorted(known.model_fields_set):
                place = sources.of_user(f"{table}.{model}.{name}")
                yield EffectiveSetting(name=f'{table}."{model}".{name}', value=getattr(known, name), origin=place)


def _ignored(sources: _Sources) -> Iterator[EffectiveSetting]:
    """What the repository says in vain; its value is shown only of a setting that there is."""
    asked = toml_of(sources.repository.place, CONFIGURATION)
    for name, why in sources.repository.ignored.items():
        place = "pyproject.toml" if name.startswith("tool.kotef.") else sources.of_repository(name)
        value = _value(asked, name) if name in FIELDS else SET
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
    """The line of a TOML file that sets `table.key`; None where it is written in another way than one line a setting.

    Of what stands in a string of several lines nothing is known: the line is a hint for a person, nothing more.
    """
    table, _, key = name.rpartition(".")
    here = ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if header := _HEADER.match(stripped):
            here = _bare(header[1])
            continue
        left, equals, _ = stripped.partition("=")
        said = _bare(left)
        if equals and (here, said) == (table, key):
            return number
        if equals and not here and said == name:
            return number
    return None


def _bare(dotted: str) -> str:
    """A dotted name without quotes and blanks."""
    return ".".join(part.strip().strip("\"'") for part in re.findall(r"\"[^\"]*\"|'[^']*'|[^.]+", dotted))
