"""The user's configuration, outside of any repository."""

import hashlib
import os
import tomllib
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kotef.errors import SpecError
from kotef.files import read_within, walk_within
from kotef.models.model_settings import ModelSettings
from kotef.sandbox import Wanted
from kotef.settings import Price

_MOST_FILES: Final = 2_000
_LARGEST: Final = 4 * 1024 * 1024
"""Largest size, in bytes, of a prompt, the roles or the settings; larger files are not read."""


class EndpointSettings(BaseModel):
    """`[endpoints.NAME]`: an endpoint that a role may name, besides that of the run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str = Field(pattern=r"^https?://")
    api_key_env: str = ""
    """The environment variable that holds its key; empty for a server that needs none."""


class SandboxSettings(BaseModel):
    """`[sandbox]`: access of commands, unless the command line says otherwise."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    level: Wanted | None = None
    """None: `auto`."""
    network: bool = False
    read: tuple[str, ...] = ()
    """Folders outside the workspace that commands may read."""


class ExtensionTable(BaseModel):
    """`[extensions]`: which of the extensions that are installed beside kotef are active."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enable: tuple[str, ...] | None = None
    """Names of extensions or distributions, or `all`; None: all, and none in CI."""
    disable: tuple[str, ...] = ()
    """Goes before `enable`."""


class UserConfig(BaseModel):
    """`$XDG_CONFIG_HOME/kotef/config.toml` (default `~/.config`); a missing file is an empty one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str | None = None
    base_url: str | None = None
    fallback_model: str | None = None
    """The model of the run's endpoint that takes over when the run's own fails."""
    endpoints: dict[str, EndpointSettings] = Field(default_factory=dict)
    prices: dict[str, Price] = Field(default_factory=dict)
    """Per model name, per million tokens; `--max-cost` needs one."""
    models: dict[str, ModelSettings] = Field(default_factory=dict)
    """Per model name."""
    sandbox: SandboxSettings = SandboxSettings()
    extensions: ExtensionTable = ExtensionTable()
    trusted: dict[str, str] = Field(default_factory=dict)
    """Repository path → the hash of its trusted settings, as kotef prints it for ignored ones."""
    trusted_mcp: dict[str, str] = Field(default_factory=dict)
    """The same for its MCP servers, which are programs."""

    def price(self, model: str) -> Price | None:
        """The price of a model that the user has written down."""
        known = self.models.get(model)
        return (known.prices if known else None) or self.prices.get(model)


def config_path(env: Mapping[str, str] = os.environ) -> Path:
    """Where the user's configuration is, whether or not it exists."""
    base = env.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "kotef" / "config.toml"


def read_config(path: Path) -> UserConfig:
    """The user's configuration; a broken file is a SpecError that names the place."""
    try:
        return UserConfig.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return UserConfig()
    except OSError as error:
        raise SpecError(path, f"cannot be read: {error.strerror}", hint="check its permissions") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(path, f"is not TOML: {error}", hint="fix the file") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SpecError(
            path, f"{where}: {first['msg']}", hint=f"known are {', '.join(UserConfig.model_fields)}"
        ) from error


def fingerprint_of(directory: Path) -> str:
    """One hash of the names and contents of the files below `directory`.

    No link is followed. An entry that is not a readable regular file within the limit counts by name only, because no
    prompt is read from it.
    """
    files: dict[str, bytes] = {}
    for walked in islice(walk_within(directory, most=_MOST_FILES), _MOST_FILES):
        below = f"{walked.path}/" if walked.path else ""
        files.update((f"{below}{name}", _digest(directory, f"{below}{name}")) for name in walked.others)
    total = hashlib.sha256()
    for name in sorted(files, key=Path):
        total.update(os.fsencode(f"{name}\0") + files[name])
    return total.hexdigest()[:32]


def _digest(directory: Path, name: str) -> bytes:
    try:
        return hashlib.sha256(read_within(directory, name, largest=_LARGEST)).digest()
    except OSError:
        return b""


def prompt_overrides(root: Path, config: UserConfig, *, trust: bool, at: Path | None = None) -> tuple[Path | None, str]:
    """The prompt directory of a trusted repository, and a line that says so when one is ignored.

    A repository is trusted for this run (`--trust`), or by the user's configuration while the files are the same. `at`
    is where its settings are read (see `runs.base_branch`); None: the workspace.
    """
    place = (at or root) / ".sdd" / "prompts"
    if not place.is_dir():
        return None, ""
    if is_trusted(root, config, trust=trust, at=at):
        return place, ""
    return None, f".sdd/prompts is ignored: {untrusted(root, at=at)}"


def is_trusted(root: Path, config: UserConfig, *, trust: bool, at: Path | None = None) -> bool:
    """Whether the repository's prompts, models and settings take effect."""
    return trust or config.trusted.get(str(root)) == _spoken(at or root)


def untrusted(root: Path, *, at: Path | None = None) -> str:
    """Why it is not trusted, and how to trust it, in one line."""
    entry = f'"{root}" = "{_spoken(at or root)}"'
    return f"this repository is not trusted (--trust for one run, or {entry} under [trusted] in {config_path()})"


def _spoken(place: Path) -> str:
    """One hash over everything that needs trust: prompts, roles and settings."""
    prompts = fingerprint_of(place / ".sdd" / "prompts")
    files = {name: _digest(place, f".sdd/{name}") for name in ("agents.md", "kotef.toml")}
    if not any(files.values()):
        return prompts
    text = "".join(f"\0{name}\0{digest.hex()}" for name, digest in files.items() if digest)
    return hashlib.sha256(f"{prompts}{text}".encode()).hexdigest()[:32]
