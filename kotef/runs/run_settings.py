"""Settings of a run with their origins: one precedence for every command."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, get_args

from kotef.errors import UsageError
from kotef.extensions import ExtensionSettings
from kotef.redaction import SECRET_MARK
from kotef.runs.config import UserConfig
from kotef.runs.repository import Settings
from kotef.sandbox import Wanted
from kotef.settings import PROFILES, Limits, ProfileName
from kotef.state import Task
from kotef.tools.registry import tier_of

SettingOrigin = Literal["option", "environment", "run", "user", "repository", "profile", "default"]
"""`run`: what the run began with, for a resume."""

MODEL_SETTINGS: Final = ("model", "base_url", "coder", "planner_model", "fallback_model")
OPTIONS: Final[Mapping[str, str]] = {
    **{name: name for name in MODEL_SETTINGS},
    "agent": "agent",
    "sandbox.level": "sandbox",
    "sandbox.network": "network",
    "sandbox.read": "reads",
    **{f"limits.{name}": name for name in Limits.model_fields},
}
"""Setting → its option, if a command has one."""
VARIABLES: Final[Mapping[str, str]] = {
    "model": "KOTEF_MODEL",
    "base_url": "OPENAI_BASE_URL",
    "coder": "KOTEF_CODER",
    "planner_model": "KOTEF_PLANNER_MODEL",
    "fallback_model": "KOTEF_FALLBACK_MODEL",
    "sandbox.level": "KOTEF_SANDBOX",
    "limits.probes": "KOTEF_PROBES",
    "tools": "KOTEF_TOOLS",
    "extensions.enable": "KOTEF_EXTENSIONS",
    "extensions.disable": "KOTEF_DISABLE_EXTENSIONS",
}
"""Setting → its environment variable, used if the command line does not set it."""
_CHOICES: Final = {"sandbox.level": get_args(Wanted), "limits.probes": ("off", "fast", "full")}


class RunSetting(NamedTuple):
    """One setting and its origin."""

    value: Any
    """None if it is not set and has no default."""
    origin: SettingOrigin


class SandboxRequest(NamedTuple):
    """The requested sandbox level and access of commands."""

    wanted: Wanted
    network: bool
    reads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Every setting of one command, by name."""

    found: Mapping[str, RunSetting]

    def __getitem__(self, name: str) -> RunSetting:
        """The setting of this name."""
        return self.found[name]

    def value(self, name: str) -> Any:
        """Its value."""
        return self.found[name].value

    @property
    def sandbox(self) -> SandboxRequest:
        """The requested sandbox."""
        return SandboxRequest(*(self.value(f"sandbox.{name}") for name in ("level", "network", "read")))

    @property
    def extensions(self) -> ExtensionSettings:
        """Which extensions are to be active."""
        return ExtensionSettings(self.value("extensions.enable"), self.value("extensions.disable"))

    @property
    def limits(self) -> Limits:
        """The limits in force."""
        return Limits(**{name: self.value(f"limits.{name}") for name in Limits.model_fields})


def run_settings(
    given: Mapping[str, Any],
    config: UserConfig,
    theirs: Settings,
    *,
    profile: ProfileName = "strict",
    task: Task | None = None,
    env: Mapping[str, str] | None = None,
) -> RunSettings:
    """Every setting with its value and origin; whoever needs one asks here.

    The order is: command line (`given`, by name of the option), environment, the run itself (`task`, of a resume), then
    for models the user's configuration before the repository, for the sandbox the repository, as far as it counts,
    before the user, and last the profile and the defaults. Folders that may be read are added up.

    Raises UsageError for a value of the environment that no option would take.
    """
    sources = _SettingSources(given, os.environ if env is None else env, config, theirs, profile, task)
    return RunSettings(dict(sources.all()))


@dataclass(frozen=True, slots=True)
class _SettingSources:
    given: Mapping[str, Any]
    env: Mapping[str, str]
    config: UserConfig
    theirs: Settings
    profile: ProfileName
    task: Task | None

    def all(self) -> Iterator[tuple[str, RunSetting]]:
        for name in MODEL_SETTINGS:
            yield name, self._given_value(name) or self._model(name)
        yield "agent", self._given_value("agent") or RunSetting("coder", "default")
        yield "tools", self._tools()
        yield "extensions.enable", self._enabled()
        yield "extensions.disable", self._disabled()
        yield "sandbox.level", self._given_value("sandbox.level") or self._level()
        yield "sandbox.network", self._network()
        yield "sandbox.read", self._reads()
        yield "env.pass", self._of_repository("passed")
        yield "setup.commands", self._of_repository("setup")
        for name in Limits.model_fields:
            yield f"limits.{name}", self._given_value(f"limits.{name}") or self._limit(name)

    def _given_value(self, name: str) -> RunSetting | None:
        """The value from the command line or the environment; an empty value counts as unset."""
        option = self.given.get(OPTIONS[name])
        option = option.strip() if isinstance(option, str) else option
        variable = self._variable(name)
        if option is not None and option != "":
            return RunSetting(option, "environment" if variable is not None and option == variable else "option")
        return RunSetting(variable, "environment") if variable is not None else None

    def _variable(self, name: str) -> str | None:
        variable = VARIABLES.get(name, "")
        value = self.env.get(variable, "").strip()
        choices = _CHOICES.get(name, ())
        if value and choices and value not in choices:
            what = "level" if name == "sandbox.level" else "value"
            raise UsageError(f"{variable}={value}: no such {what}", hint=f"possible values: {', '.join(choices)}")
        return value or None

    def _model(self, name: str) -> RunSetting:
        kept = getattr(self.task, name, None)
        is_cut = name == "base_url" and SECRET_MARK.search(kept or "")  # without its password
        if kept and not is_cut:
            return RunSetting(kept, "run")
        if value := getattr(self.config, name, None):
            return RunSetting(value, "user")
        if value := getattr(self.theirs, name, None):
            return RunSetting(value, "repository")
        return RunSetting(None, "default")

    def _tools(self) -> RunSetting:
        value = self.env.get(VARIABLES["tools"])
        tier, _ = tier_of(value)
        return RunSetting(tier, "environment" if value else "default")

    def _enabled(self) -> RunSetting:
        """All that are installed, but none in CI: there each is named."""
        if named := self._names("extensions.enable"):
            return named
        if self.config.extensions.enable is not None:
            return RunSetting(self.config.extensions.enable, "user")
        in_ci = self.env.get("CI", "").strip().lower() not in {"", "0", "false", "no"}
        return RunSetting(() if in_ci else ("all",), "default")

    def _disabled(self) -> RunSetting:
        """All that is named anywhere; the origin is that of the first."""
        names, users = self._names("extensions.disable"), self.config.extensions.disable
        if names is None:
            return RunSetting(users, "user" if users else "default")
        return RunSetting(tuple(dict.fromkeys((*names.value, *users))), "environment")

    def _names(self, name: str) -> RunSetting | None:
        """What its variable lists; `none` is an empty list."""
        listed = [word.strip() for word in self.env.get(VARIABLES[name], "").split(",")]
        names = tuple(dict.fromkeys(word for word in listed if word))
        return RunSetting(tuple(word for word in names if word != "none"), "environment") if names else None

    def _level(self) -> RunSetting:
        if self.task is not None:
            return RunSetting(self.task.sandbox, "run")
        if self.theirs.level:
            return RunSetting(self.theirs.level, "repository")
        if self.config.sandbox.level:
            return RunSetting(self.config.sandbox.level, "user")
        return RunSetting("auto", "default")

    def _network(self) -> RunSetting:
        """A flag can only widen."""
        users = self.config.sandbox
        if self.given.get("network"):
            return RunSetting(True, "option")
        if self.task is not None:
            return RunSetting(self.task.network, "run")
        if self.theirs.network is not None:
            return RunSetting(self.theirs.network, "repository")
        return RunSetting(users.network, "user" if "network" in users.model_fields_set else "default")

    def _reads(self) -> RunSetting:
        """All of them; the origin is that of the first."""
        option_paths: tuple[str, ...] = tuple(self.given.get("reads") or ())
        parts: list[tuple[tuple[str, ...], SettingOrigin]] = [(option_paths, "option")]
        if self.task is not None:
            parts.insert(0, (self.task.reads, "run"))
        else:
            parts.extend([(self.config.sandbox.read, "user"), (self.theirs.reads, "repository")])
        given: list[SettingOrigin] = [origin for paths, origin in parts if paths]
        origin: SettingOrigin = given[0] if given else "default"
        return RunSetting(tuple(dict.fromkeys(path for paths, _ in parts for path in paths)), origin)

    def _of_repository(self, name: str) -> RunSetting:
        if self.task is not None:
            return RunSetting(getattr(self.task, name), "run")
        value: tuple[str, ...] = getattr(self.theirs, name)
        return RunSetting(value, "repository" if value else "default")

    def _limit(self, name: str) -> RunSetting:
        if self.task is not None:
            return RunSetting(getattr(self.task.limits, name), "run")
        value = getattr(PROFILES[self.profile].limits, name)
        return RunSetting(value, "default" if value == getattr(Limits(), name) else "profile")
