"""Which folders of a person's home does an ordinary project need in order to run, and where do its caches go?"""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import unquote

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
_DOWNLOADS: Final = frozenset({".cargo/git", ".cargo/registry", "go/pkg"})
"""What of it a package manager writes into; with network there is one in our cache to write into instead."""
_MOVED: Final = {".cargo": "CARGO_HOME", "go": "GOPATH"}
"""Variables that name the place of what is otherwise a folder of the home."""
_BY_LINE: Final = frozenset({".gitconfig", ".npmrc", ".config/git/config"})
"""Settings of which each line is one, so that those with a login can be left out."""
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
_ENVIRONMENTS: Final = ("*/pyvenv.cfg", ".tox/*/pyvenv.cfg", ".nox/*/pyvenv.cfg")
"""Where a project keeps its virtual environments."""
_BIN: Final = frozenset({"bin", "sbin", "shims", "Scripts"})


def toolchains(env: Mapping[str, str], home: Path, root: Path) -> tuple[Path, ...]:
    """Folders that the project's programs lie in or read from; some may not exist, some may lie outside `home`.

    What the environment names, what PATH leads to (a `bin` with the folder around it, unless that is the home itself),
    the interpreter of kotef, what virtual environments were made from, and projects installed in them as editable.
    What an environment inside the workspace `root` says is the word of whoever wrote the workspace: of it only
    interpreters are believed, and projects beside this one.
    """
    named = [Path(env[name]) for name in _ROOTS if env.get(name)]
    if cargo := env.get("CARGO_HOME"):
        named += [Path(cargo, part) for part in ("bin", "config.toml", "env", "git", "registry")]
    searched = [_around(Path(entry), home) for entry in env.get("PATH", "").split(os.pathsep) if entry.startswith("/")]
    prefixes = [Path(prefix) for prefix in (sys.prefix, sys.base_prefix)]
    there = [path for path in (*named, *searched, *prefixes) if os.access(path, os.F_OK)]
    outside = [path for path in there if not _is_within(path, root)]
    inside = [found.parent for pattern in _ENVIRONMENTS for found in root.glob(pattern)]
    kotef = Path(__file__).parents[3]  # may be installed as editable, and its supervisor is read inside
    return (
        *(home / name for name in IN_HOME),
        *outside,
        *_bases([*outside, *inside]),
        *_editable(outside),
        *(path for path in _editable(inside) if _is_beside(path, root)),
        kotef / "kotef",
    )


def _is_within(path: Path, root: Path) -> bool:
    return path.is_relative_to(root) or Path(os.path.realpath(path)).is_relative_to(root)


def _is_beside(path: Path, root: Path) -> bool:
    """Whether it is a project in the folder that the workspace lies in."""
    real = Path(os.path.realpath(path))
    project = any(os.access(real / name, os.R_OK) for name in ("pyproject.toml", "setup.py"))
    return real != root.parent and real.is_relative_to(root.parent) and project


def _around(folder: Path, home: Path) -> Path:
    """The folder a `bin` belongs to, where that is a toolchain's own; else the `bin` alone."""
    around = folder.parent
    wide = {home, *home.parents, home / ".local", home / ".cargo"}
    own = folder.name in _BIN and os.access(around / "lib", os.X_OK) and around not in wide
    return around if own else folder


def _bases(prefixes: Iterable[Path]) -> Iterator[Path]:
    """What virtual environments were made from, see `pyvenv.cfg` in PEP 405."""
    for prefix in prefixes:
        settings = prefix / "pyvenv.cfg"
        if not os.access(settings, os.R_OK):
            continue
        for line in settings.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition("=")
            if name.strip() == "home" and (found := Path(value.strip())).is_absolute():
                real = Path(os.path.realpath(found))
                if real.name in _BIN and os.access(real, os.R_OK) and any(real.glob("python*")):
                    yield real.parent if real.parent != Path("/usr") else real


def _editable(prefixes: Iterable[Path]) -> Iterator[Path]:
    """Where the code of projects installed as editable lies, see PEP 610, and `.pth` files in the site module."""
    for prefix in prefixes:
        for record in prefix.glob("lib/python*/site-packages/*.dist-info/direct_url.json"):
            try:
                told = json.loads(record.read_text(encoding="utf-8"))
                url, editable = told["url"], told.get("dir_info", {}).get("editable", False)
            except (OSError, ValueError, KeyError, AttributeError):
                continue  # not one of an installer that follows the standard
            if editable and isinstance(url, str) and url.startswith("file://"):
                yield Path(unquote(url.removeprefix("file://")))
        for added in prefix.glob("lib/python*/site-packages/*.pth"):
            readable = os.access(added, os.R_OK)
            lines = added.read_text(encoding="utf-8", errors="replace").splitlines() if readable else []
            yield from (Path(line) for line in lines if line.startswith("/"))


def settle(place: Path, home: Path, cache: Path, env: Mapping[str, str], *, network: bool) -> None:
    """Make `place`, an empty folder, a home with the toolchains and settings of the real one, and nothing else.

    Toolchains are links into `home`; downloads are once somebody had the network to make some in our cache.
    """
    for name in IN_HOME:
        source = _real(name, home, env)
        if name in _DOWNLOADS:
            source = _downloads(name, cache, network=network) or source
        if os.access(source, os.R_OK):
            link = place / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(source)
    for name in SETTINGS:
        if (text := _harmless(_real(name, home, env), by_line=name in _BY_LINE)) is not None:
            copy = place / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text, encoding="utf-8")


def _real(name: str, home: Path, env: Mapping[str, str]) -> Path:
    """Where it is: below the home, unless a variable names another place for its first folder."""
    first, _, rest = name.partition("/")
    return Path(env[_MOVED[first]], rest) if env.get(_MOVED.get(first, "")) else home / name


def _downloads(name: str, cache: Path, *, network: bool) -> Path | None:
    """Ours, where there are some; commands write into the cache, so what stands there may be anything."""
    own = cache / name.strip(".").replace("/", "-")
    if network:
        with suppress(FileExistsError):
            own.mkdir(mode=0o700)
    real = own.is_dir() and not own.is_symlink()
    return own if real and (network or any(own.iterdir())) else None


def _harmless(path: Path, *, by_line: bool) -> str | None:
    """The text of a settings file without a login in it; None where that is none."""
    try:
        text = path.read_bytes()[: _MOST_SETTINGS + 1].decode()
    except (OSError, UnicodeDecodeError):
        return None
    if by_line:
        text = "".join(line for line in text.splitlines(keepends=True) if not _LOGIN.search(line))
    return None if len(text) > _MOST_SETTINGS or _LOGIN.search(text) else text


def variables(cache: Path, home: Path, place: Path, env: Mapping[str, str]) -> dict[str, str]:
    """Variables that lead programs to the home `place`, to caches they may write, and to what `home` has already.

    Package managers are told not to try again: without network that is all they would do for minutes.
    """
    maven = f"-Dmaven.repo.local={cache}/m2 -Dmaven.repo.local.tail={home}/.m2/repository"
    return {
        "HOME": str(place),
        **{name: str(place / folder) for folder, name in _MOVED.items() if env.get(name)},
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
