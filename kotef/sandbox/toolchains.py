"""Toolchain folders in the user's home that ordinary projects need, and where their caches go."""

import json
import os
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from kotef.files import read_regular
from kotef.sandbox import go_cache

IN_HOME: Final = (
    ".asdf",
    ".bun",
    ".cache/go-build",
    ".cache/pypoetry/virtualenvs",
    ".cargo/bin",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".conda/envs",
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
    ".local/share/hatch/env",
    ".local/share/mise",
    ".local/share/pdm/venvs",
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
    ".virtualenvs",
    ".volta",
    "anaconda3/envs",
    "go/bin",
    "go/pkg",
    "mambaforge/envs",
    "micromamba/envs",
    "miniconda3/envs",
    "miniforge3/envs",
)
"""Where toolchain managers and package managers put programs and what they have downloaded, by their documentation;
logins and settings beside them are not in it."""

SETTINGS: Final = (
    ".bunfig.toml",
    ".cargo/config.toml",
    ".condarc",
    ".config/git/attributes",
    ".config/git/config",
    ".config/git/ignore",
    ".config/go/env",
    ".config/hatch/config.toml",
    ".config/mise/config.toml",
    ".config/pdm/config.toml",
    ".config/pip/pip.conf",
    ".config/pypoetry/config.toml",
    ".config/uv/uv.toml",
    ".gemrc",
    ".gitconfig",
    ".gradle/gradle.properties",
    ".m2/settings.xml",
    ".mavenrc",
    ".npmrc",
    ".pip/pip.conf",
    ".tool-versions",
    ".yarnrc",
    ".yarnrc.yml",
)
"""Settings that programs follow, by their documentation; a copy of each is there unless it holds a login."""
_DOWNLOADS: Final = frozenset({".cargo/git", ".cargo/registry", "go/pkg"})
"""What of it a package manager writes into; with network there is one in our cache to write into instead."""
_MOVED: Final = {".cargo": "CARGO_HOME", ".config": "XDG_CONFIG_HOME", "go": "GOPATH"}
"""Variables that name the place of what is otherwise a folder of the home."""
_CARGO_SETTINGS: Final = ("config.toml", "config")
_BY_LINE: Final = frozenset(
    {".config/git/config", ".config/go/env", ".gitconfig", ".gradle/gradle.properties", ".npmrc", ".tool-versions"}
)
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
    "GOCACHE",
    "JAVA_HOME",
    "MAVEN_HOME",
    "GRADLE_HOME",
    "DOTNET_ROOT",
    "NUGET_PACKAGES",
    "GEM_HOME",
    "DENO_DIR",
    "VOLTA_HOME",
    "UV_PYTHON_INSTALL_DIR",
    "WORKON_HOME",
)
"""Variables that name a folder with a toolchain in it."""
_ENVIRONMENTS: Final = ("*/pyvenv.cfg", ".tox/*/pyvenv.cfg", ".nox/*/pyvenv.cfg")
"""Where a project keeps its virtual environments."""
_BIN: Final = frozenset({"bin", "sbin", "shims", "Scripts"})
_OF_AN_INTERPRETER: Final = ("bin", "lib", "lib64", "include")


_NO_RETRIES: Final[dict[str, str]] = dict.fromkeys(
    ("npm_config_fetch_retries", "PIP_RETRIES", "UV_HTTP_RETRIES", "CARGO_NET_RETRY"), "0"
)


def toolchains(env: Mapping[str, str], home: Path, root: Path, *, public: Collection[Path] = ()) -> tuple[Path, ...]:
    """Folders that the project's programs are in or read from; some may not exist, some may be outside `home`.

    What the environment names, what PATH leads to (a `bin` with the folder around it, unless that is the home itself),
    the interpreter of kotef, what virtual environments were made from, and projects installed in them as editable.
    What an environment inside the workspace `root` says was written by whoever wrote the workspace. kotef uses only the
    interpreters it names, and of these gives access to programs and libraries only. Projects beside this one are
    readable too if git does not track (`public`) the file that names them: then they did not come with a clone. The
    same holds for an environment outside that a link in the workspace, such as `.venv`, leads to.
    """
    named = [Path(env[name]) for name in _ROOTS if env.get(name)]
    if cargo := env.get("CARGO_HOME"):
        named += [Path(cargo, part) for part in ("bin", "config.toml", "env", "git", "registry")]
    searched = [_around(Path(entry), home) for entry in env.get("PATH", "").split(os.pathsep) if entry.startswith("/")]
    prefixes = [Path(prefix) for prefix in (sys.prefix, sys.base_prefix)]
    there = [path for path in (*named, *searched, *prefixes) if os.access(path, os.F_OK)]
    outside = [path for path in there if not _is_within(path, root)]
    inside = [found.parent for pattern in _ENVIRONMENTS for found in root.glob(pattern)]
    own = [prefix for prefix in inside if public and not any(path.is_relative_to(prefix) for path in public)]
    kotef = Path(__file__).parents[2]  # may be installed as editable, and its supervisor is read inside
    return (
        *(home / name for name in IN_HOME),
        *(path for path in [_real(".cargo/config.toml", home, env)] if _harmless(path, by_line=False) is not None),
        *outside,
        *_bases(outside),
        *_interpreters(inside, home, root),
        *_linked(own, home, root),
        *_editable(outside),
        *(path for path in _editable(own) if _is_beside(path, root)),
        kotef / "kotef",
    )


def _linked(prefixes: Iterable[Path], home: Path, root: Path) -> Iterator[Path]:
    """The virtual environments outside the workspace that links in it lead to."""
    for prefix in prefixes:
        real = Path(os.path.realpath(prefix))
        holds = any(place.is_relative_to(real) for place in (home, root))
        if prefix.is_symlink() and not holds and os.access(real / "bin" / "python", os.X_OK):
            yield real


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
    """The installations that virtual environments were made from."""
    for real in _homes(prefixes):
        if real.name in _BIN and os.access(real, os.R_OK) and any(real.glob("python*")):
            yield real.parent if real.parent != Path("/usr") else real


def _homes(prefixes: Iterable[Path]) -> Iterator[Path]:
    """Real paths of the interpreter folders that virtual environments name, see `pyvenv.cfg` in PEP 405."""
    for prefix in prefixes:
        try:
            text = read_regular(prefix / "pyvenv.cfg", largest=_MOST_SETTINGS).decode("utf-8", "replace")
        except OSError:
            continue
        for line in text.splitlines():
            name, _, value = line.partition("=")
            if name.strip() == "home" and "\0" not in value and (found := Path(value.strip())).is_absolute():
                yield Path(os.path.realpath(found))


def _interpreters(prefixes: Iterable[Path], home: Path, root: Path) -> Iterator[Path]:
    """The folders an interpreter needs, of the installations that environments of the workspace name; nothing else.

    An installation has its own program `bin/python*` and standard library `lib/python3*/os.py`. It neither contains the
    home or the workspace, nor is it inside the workspace; inside the home it must be a folder of its own.
    """
    for real in _homes(prefixes):
        prefix = real.parent
        holds = any(place.is_relative_to(prefix) for place in (home, root))
        if real.name not in _BIN or holds or prefix.is_relative_to(root):
            continue
        if any(_is_own(path, prefix) and os.access(path, os.X_OK) for path in real.glob("python*")) and any(
            _is_own(path, prefix) for path in prefix.glob("lib/python3*/os.py")
        ):
            yield from (folder for name in _OF_AN_INTERPRETER if _is_own(folder := prefix / name, prefix))


def _is_own(path: Path, prefix: Path) -> bool:
    """Whether it exists and is not a link that leads out of the folder."""
    return os.access(path, os.R_OK) and Path(os.path.realpath(path)).is_relative_to(prefix)


def _editable(prefixes: Iterable[Path]) -> Iterator[Path]:
    """Where the code of projects installed as editable lies, see PEP 610, and `.pth` files in the site module."""
    for prefix in prefixes:
        for record in prefix.glob("lib/python*/site-packages/*.dist-info/direct_url.json"):
            try:
                record_data = json.loads(read_regular(record, largest=_MOST_SETTINGS))
                url, editable = record_data["url"], record_data.get("dir_info", {}).get("editable", False)
            except (OSError, ValueError, KeyError, AttributeError):
                continue  # not one of an installer that follows the standard
            if editable and isinstance(url, str) and url.startswith("file://"):
                yield Path(unquote(url.removeprefix("file://")))
        for added in prefix.glob("lib/python*/site-packages/*.pth"):
            with suppress(OSError):
                lines = read_regular(added, largest=_MOST_SETTINGS).decode("utf-8", "replace").splitlines()
                yield from (Path(line) for line in lines if line.startswith("/") and "\0" not in line)


def settle(place: Path, home: Path, cache: Path, seed: Path, env: Mapping[str, str], *, network: bool) -> None:
    """Make `place`, an empty folder, a home with the toolchains and settings of the real one, and nothing else.

    Toolchains are links into `home`. With the network, downloads are in `cache`; without it, they are read from `seed`,
    where an earlier command with the network may have left some.
    """
    for name in IN_HOME:
        source = _real(name, home, env)
        if name in _DOWNLOADS:
            source = _downloads(name, cache, seed, network=network) or source
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


def _downloads(name: str, cache: Path, seed: Path, *, network: bool) -> Path | None:
    """The folder of downloads that kotef keeps, if there is one."""
    own = name.strip(".").replace("/", "-")
    if network:
        (cache / own).mkdir(mode=0o700, exist_ok=True)
        return cache / own
    kept = seed / own
    real = kept.is_dir() and not kept.is_symlink()
    return kept if real and any(kept.iterdir()) else None


def _harmless(path: Path, *, by_line: bool) -> str | None:
    """The text of a settings file without a login in it; None if that is none."""
    try:
        text = path.read_bytes()[: _MOST_SETTINGS + 1].decode()
    except (OSError, UnicodeDecodeError):
        return None
    if by_line:
        text = "".join(line for line in text.splitlines(keepends=True) if not _LOGIN.search(line))
    return None if len(text) > _MOST_SETTINGS or _LOGIN.search(text) else text


def variables(
    cache: Path, home: Path, place: Path, seed: Path, env: Mapping[str, str], *, network: bool = False
) -> dict[str, str]:
    """Variables that point programs to the home `place`, to caches they may write, and to existing downloads.

    Without network package managers must not try again: that is all they would do for minutes.
    """
    maven = f"-Dmaven.repo.local={cache}/m2 -Dmaven.repo.local.tail={seed}/m2,{home}/.m2/repository"
    caching = _go_cache(cache / "go-build", home, env)
    return {
        "HOME": str(place),
        **{name: str(place / folder) for folder, name in _MOVED.items() if env.get(name)},
        **_cargo_home(place / ".cargo", home, env),
        "XDG_CACHE_HOME": str(cache),
        "PIP_CACHE_DIR": str(cache / "pip"),
        "UV_CACHE_DIR": str(cache / "uv"),
        "POETRY_CACHE_DIR": str(cache / "poetry"),
        "PRE_COMMIT_HOME": str(cache / "pre-commit"),
        "npm_config_cache": str(cache / "npm"),
        "YARN_CACHE_FOLDER": str(cache / "yarn"),
        "COREPACK_HOME": str(cache / "corepack"),
        "GOCACHE": str(cache / "go-build"),
        **({"GOCACHEPROG": caching} if caching else {}),
        **_go_modules(place / "go", home, env),
        "GRADLE_USER_HOME": str(cache / "gradle"),
        "GRADLE_RO_DEP_CACHE": str(home / ".gradle" / "caches"),
        "MAVEN_ARGS": maven,
        "NUGET_HTTP_CACHE_PATH": str(cache / "nuget"),
        **_retries(network=network),
    }


def _retries(*, network: bool) -> dict[str, str]:
    return {} if network else _NO_RETRIES


def _cargo_home(own: Path, home: Path, env: Mapping[str, str]) -> dict[str, str]:
    """The real folder, where `own` only leads there: to cargo, packages below another path are other packages.

    With a fresh home for each check it would compile them all for each, and for the person again.
    """
    real = _real(".cargo", home, env)
    has_downloads = os.access(real / "registry", os.R_OK)
    leads_there = os.path.realpath(own / "registry") == os.path.realpath(real / "registry")
    hidden = [name for name in _CARGO_SETTINGS if os.access(real / name, os.F_OK) and not (own / name).exists()]
    return {"CARGO_HOME": str(real)} if has_downloads and leads_there and not hidden else {}


def _go_modules(own: Path, home: Path, env: Mapping[str, str]) -> dict[str, str]:
    """The real folder of downloaded modules, where `own` only leads there: go compiles them again at another path."""
    real = Path(env.get("GOMODCACHE") or _real("go", home, env) / "pkg/mod")
    leads_there = os.path.realpath(own / "pkg/mod") == os.path.realpath(real)
    return {"GOMODCACHE": str(real)} if leads_there and os.access(real, os.R_OK) else {}


def _go_cache(written: Path, home: Path, env: Mapping[str, str]) -> str:
    """The program that adds the person's own build cache to that of the room; the standard library takes a minute.

    Empty if they have a program of their own, or where the go command could not read the words.
    """
    usual = Path(env.get("XDG_CACHE_HOME") or home / ".cache", "go-build")
    words = [sys.executable, "-I", "-S", go_cache.__file__, str(written), env.get("GOCACHE") or str(usual)]
    return "" if env.get("GOCACHEPROG") or "'" in "".join(words) else shlex.join(words)
