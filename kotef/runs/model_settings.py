"""Model settings and their origins: one precedence for every command."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from kotef.runs.config import UserConfig
from kotef.runs.repository import Settings

SettingOrigin = Literal["option", "user", "repository", "default"]

NAMES: Final = ("model", "base_url", "coder", "planner_model", "fallback_model")


class ModelSetting(NamedTuple):
    """One setting and who says it."""

    value: str | None
    """None where no one does."""
    origin: SettingOrigin


def model_settings(given: Mapping[str, Any], config: UserConfig, theirs: Settings) -> dict[str, ModelSetting]:
    """Each setting that says who is asked, by name.

    The command line with its environment variables (`given`) comes first, then the user's configuration, then what
    counts of the repository's settings.
    """
    return {name: _setting(name, given, config, theirs) for name in NAMES}


def with_model_settings(options: Mapping[str, Any], config: UserConfig, theirs: Settings) -> dict[str, Any]:
    """The options of a command, completed by the other origins; a command may have only some of them."""
    found = model_settings(options, config, theirs)
    return {**options, **{name: setting.value for name, setting in found.items()}}


def _setting(name: str, given: Mapping[str, Any], config: UserConfig, theirs: Settings) -> ModelSetting:
    if value := (given.get(name) or "").strip():
        return ModelSetting(value, "option")
    if value := getattr(config, name, None):
        return ModelSetting(value, "user")
    if value := getattr(theirs, name, None):
        return ModelSetting(value, "repository")
    return ModelSetting(None, "default")
