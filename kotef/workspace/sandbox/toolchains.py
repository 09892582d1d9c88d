"""Which folders of a person's home does an ordinary project need in order to run, and where do its caches go?"""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

IN_HOME: Final = (
    ".asdf",
    ".bun",
    ".cargo/bin",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".config/composer",
    ".deno",
    ".dotnet",
    ".fnm",
    ".gem",
    ".ghcup",
    ".gradle/caches/modules-2",
    ".gradle/wrapper",
    ".juliaup",
    ".local/bin",
    ".local/lib",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".local/share/virtualenvs",
    ".m2/repository",
    ".m2/wrapper",
    ".nix-profile",
    ".nuget/packages",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman/candidates",
    ".stack",
    ".volta",
    "go/bin",
    "go/pkg",
)
"""Where toolchain managers and package managers put programs and what they have downloaded, by their documentation;
logins and settings beside them are not in it."""

SETTINGS: Final = (
    ".cargo/config.toml",
    ".condarc",
    ".config/git/attributes",
    ".config/git/config",
    ".config/git/ignore",
    ".config/pip/pip.conf",
    ".config/uv/uv.toml",
    ".gemrc",
    ".gitconfig",
    ".m2/settings.xml",
    ".npmrc",
)
"""Settings that programs follow; a copy of each is there unless it holds a login."""
_LOGIN: Final = re.compile(r"://[^/\s]*@|passw|_auth|token|secret|extraheader|api.?key", re.IGNORECASE)
_MOST_SETTINGS: Final = 64 * 1024
"""Bytes of one that is copied."""

_ROOTS: Final = (
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "NVM_DIR",
    "RUSTUP_HOME",
    "GOROOT",
    "GOPATH",
    "GOMODCACHE",
    "JAVA_HOME",
    "MAVEN_HOME",
    "GRADLE_HOME",
    "DOTNET_ROOT",
    "NUGET_PACKAGES",
    "GEM_HOME",
    "DENO_DIR",
    "VOLTA_HOME",
    "UV_PYTHON_INSTALL_DIR",
)
"""Variables that name a folder with a toolchain in it."""
_BIN: Final = frozenset({"bin", "sbin", "shims", "Scripts"})


def toolchains(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Folders that the project's programs lie in or read from; some may not exist, some may lie outside `home`.

    What the environment names, what PATH leads to (a `bin` with the folder around it, unless that is the home itself),
    the interpreter of kotef, what virtual environments were made from, and projects installed in them as editable.
    """
    named = [Path(env[name]) for name in _ROOTS if env.get(name)]
    if cargo := env.get("CARGO_HOME"):
        named += [Path(cargo, part) for part in ("bin", "config.toml", "env", "git", "registry")]
    searched = [_around(Path(entry), home) for entry in env.get("PATH", "").split(os.pathsep) if entry.startswith("/")]
    prefixes = [Path(prefix) for prefix in (sys.prefix, sys.base_prefix)]
    interpreters = [*named, *searched, *prefixes]
    kotef = Path(__file__).parents[3]  # may be installed as editable, and its supervisor is read inside
    return (
        *(home / name for name in IN_HOME),
        *interpreters,
        *_bases(interpreters),
        *_editable(interpreters),
        kotef / "kotef",
    )


def _around(folder: Path, home: Path) -> Path:
    """The folder a `bin` belongs to, where that is a toolchain's own; else the `bin` alone."""
    around = folder.parent
    wide = {home, *home.parents, home / ".local", home / ".cargo"}
    own = folder.name in _BIN and (around / "lib").is_dir() and around not in wide
    return around if own else folder


def _bases(prefixes: Iterable[Path]) -> Iterator[Path]:
    """What virtual environments were made from, see `pyvenv.cfg` in PEP 405."""
    for prefix in prefixes:
        settings = prefix / "pyvenv.cfg"
        if not settings.is_file():
            continue
        for line in settings.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition("=")
            if name.strip() == "home" and (found := Path(value.strip())).is_absolute():
                real = Path(os.path.realpath(found))
                yield real.parent if real.name in _BIN and real.parent != Path("/usr") else real


def _editable(prefixes: Iterable[Path]) -> Iterator[Path]:
    """Where the code of projects installed as editable lies, see PEP 610."""
    for prefix in prefixes:
        for record in prefix.glob("lib/python*/site-packages/*.dist-info/direct_url.json"):
            try:
                told = json.loads(record.read_text(encoding="utf-8"))
                url, editable = told["url"], told.get("dir_info", {}).get("editable", False)
            except (OSError, ValueError, KeyError, AttributeError):
                continue  # not one of an installer that follows the standard
            if editable and isinstance(url, str) and url.startswith("file://"):
                yield Path(url.removeprefix("file://"))


def settle(place: Path, home: Path) -> None:
    """Make `place` a home in which programs find the toolchains and settings of the real one, and nothing else.

    Toolchains are links into `home`; what an earlier run left of the same names is replaced.
    """
    for name in IN_HOME:
        if (home / name).exists():
            link = _cleared(place / name)
            link.symlink_to(home / name)
    for name in SETTINGS:
        if (text := _harmless(home / name)) is not None:
            _cleared(place / name).write_text(text, encoding="utf-8")


def _cleared(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
    return path


def _harmless(path: Path) -> str | None:
    """The text of a settings file without a login in it; None for any other."""
    try:
        text = path.read_bytes()[: _MOST_SETTINGS + 1].decode()
    except (OSError, UnicodeDecodeError):
        return None
    return None if len(text) > _MOST_SETTINGS or _LOGIN.search(text) else text


def variables(cache: Path, home: Path, place: Path) -> dict[str, str]:
    """Variables that lead programs to the home `place`, to caches they may write, and to what `home` has already.

    Package managers are told not to try again: without network that is all they would do for minutes.
    """
    maven = f"-Dmaven.repo.local={cache}/m2 -Dmaven.repo.local.tail={home}/.m2/repository"
    return {
        "HOME": str(place),
        "XDG_CACHE_HOME": str(cache),
        "PIP_CACHE_DIR": str(cache / "pip"),
        "UV_CACHE_DIR": str(cache / "uv"),
        "POETRY_CACHE_DIR": str(cache / "poetry"),
        "PRE_COMMIT_HOME": str(cache / "pre-commit"),
        "npm_config_cache": str(cache / "npm"),
        "YARN_CACHE_FOLDER": str(cache / "yarn"),
        "COREPACK_HOME": str(cache / "corepack"),
        "GOCACHE": str(cache / "go-build"),
        "GRADLE_USER_HOME": str(cache / "gradle"),
        "GRADLE_RO_DEP_CACHE": str(home / ".gradle" / "caches"),
        "MAVEN_ARGS": maven,
        "npm_config_fetch_retries": "0",
        "PIP_RETRIES": "0",
        "UV_HTTP_RETRIES": "0",
        "CARGO_NET_RETRY": "0",
        "NUGET_HTTP_CACHE_PATH": str(cache / "nuget"),
    }
