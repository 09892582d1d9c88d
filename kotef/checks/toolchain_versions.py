"""Versions of toolchains: the one the repository asks for, the file that says so, and the one installed."""

import json
import os
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from kotef.checks.project_config import readable_text
from kotef.files import read_regular

_MOST: Final = 500
"""Entries of a folder that are looked at."""
_LARGEST: Final = 64 * 1024
_VERSION: Final = re.compile(r"v?(\d+(?:\.\d+){0,3})")
_PLACES: Final = (
    ("NVM_DIR", ".nvm", "versions/node", "bin"),
    ("VOLTA_HOME", ".volta", "tools/image/node", "bin"),
    ("FNM_DIR", ".local/share/fnm", "node-versions", "installation/bin"),
    ("FNM_DIR", ".fnm", "node-versions", "installation/bin"),
    ("MISE_DATA_DIR", ".local/share/mise", "installs/node", "bin"),
    ("ASDF_DATA_DIR", ".asdf", "installs/nodejs", "bin"),
)
"""Where version managers of Node keep it: a variable, else a folder of the home; below it; below each version."""
_ALIASES: Final = 4
"""Aliases of nvm that name one another, and are followed."""


class Toolchain(NamedTuple):
    """A toolchain, by the name that files of version managers give it."""

    title: str
    program: str
    question: str
    """What makes the program print its version."""
    parts: int
    """How many numbers of a version have to agree."""


TOOLCHAINS: Final = {
    "node": Toolchain("Node", "node", "--version", 1),
    "go": Toolchain("Go", "go", "version", 2),
    "rust": Toolchain("Rust", "rustc", "--version", 2),
    "java": Toolchain("Java", "java", "-version", 1),
    "ruby": Toolchain("Ruby", "ruby", "--version", 2),
    "php": Toolchain("PHP", "php", "--version", 2),
    "elixir": Toolchain("Elixir", "elixir", "--version", 2),
    "zig": Toolchain("Zig", "zig", "version", 2),
}
_OTHER_NAMES: Final = {"nodejs": "node", "golang": "go"}


class RequestedVersion(NamedTuple):
    """A version that the repository asks for."""

    tool: str
    """A key of `TOOLCHAINS`."""
    version: str
    """The version as written, without `v` and vendor: `18`, `1.22.3`, or a word (`nightly`, `lts/iron`)."""
    file: str
    is_least: bool = False
    """Whether a newer one does as well."""

    def is_met_by(self, running: str) -> bool:
        """Whether the version that runs is it, as far as numbers have to agree; a word is not compared."""
        wanted_numbers, found = _numbers(self.version), _numbers(running)
        if not wanted_numbers or not found:
            return True
        parts = min(TOOLCHAINS[self.tool].parts, len(wanted_numbers), len(found))
        return found[:3] >= wanted_numbers[:3] if self.is_least else wanted_numbers[:parts] == found[:parts]


def wanted_versions(root: Path) -> tuple[RequestedVersion, ...]:
    """What the files of toolchains and version managers ask for, the first file for each toolchain."""
    found: dict[str, RequestedVersion] = {}
    for wanted in _wanted(root):
        if wanted.version and re.fullmatch(r"[\w./*+-]{1,40}", wanted.version):
            found.setdefault(wanted.tool, wanted)
    return tuple(found.values())


def node_folder(root: Path) -> Path | None:
    """The folder with the Node that the repository asks for, of a version manager; None if none has it."""
    wanted = next((each for each in wanted_versions(root) if each.tool == "node"), None)
    numbers = _numbers(_resolved(wanted.version)) if wanted else ()
    if not numbers:
        return None
    have = [(version, place) for version, place in _installed() if version[: len(numbers)] == numbers]
    return max(have)[1] if have else None


def _wanted(root: Path) -> Iterator[RequestedVersion]:
    def first_line(name: str) -> str:
        lines = (line.partition("#")[0].strip() for line in readable_text(root, name).splitlines())
        return next((line for line in lines if line), "")

    for name in (".nvmrc", ".node-version"):
        yield RequestedVersion("node", first_line(name).removeprefix("v"), name)
    volta = _json(root, "package.json").get("volta")
    if isinstance(volta, dict):
        yield RequestedVersion("node", str(volta.get("node", "")), "package.json: volta")
    yield from _of_go(readable_text(root, "go.mod"))
    rust = _table(readable_text(root, "rust-toolchain.toml")).get("toolchain", {})
    if isinstance(rust, dict):
        yield RequestedVersion("rust", str(rust.get("channel", "")), "rust-toolchain.toml")
    yield RequestedVersion("rust", first_line("rust-toolchain"), "rust-toolchain")
    yield RequestedVersion("java", _bare(first_line(".java-version")), ".java-version")
    for line in readable_text(root, ".sdkmanrc").splitlines():
        if line.startswith("java="):
            yield RequestedVersion("java", _bare(line.removeprefix("java=").strip()), ".sdkmanrc")
    yield RequestedVersion("ruby", first_line(".ruby-version").removeprefix("ruby-"), ".ruby-version")
    yield from _of_managers(root)


def _of_go(text: str) -> Iterator[RequestedVersion]:
    if found := re.search(r"^toolchain go([\d.]+)", text, re.MULTILINE):
        yield RequestedVersion("go", found[1], "go.mod: toolchain", is_least=True)
    if found := re.search(r"^go (\d[\d.]*)", text, re.MULTILINE):
        yield RequestedVersion("go", found[1], "go.mod", is_least=True)


def _of_managers(root: Path) -> Iterator[RequestedVersion]:
    """The files of asdf and mise."""
    for line in readable_text(root, ".tool-versions").splitlines():
        words = line.partition("#")[0].split()
        if len(words) > 1 and (tool := _OTHER_NAMES.get(words[0], words[0])) in TOOLCHAINS:
            yield RequestedVersion(tool, _bare(words[1]), ".tool-versions")
    for name in ("mise.toml", ".mise.toml"):
        tools = _table(readable_text(root, name)).get("tools")
        for key, value in tools.items() if isinstance(tools, dict) else ():
            tool = _OTHER_NAMES.get(str(key), str(key))
            if isinstance(value, str) and tool in TOOLCHAINS:
                yield RequestedVersion(tool, _bare(value), name)


def _table(text: str) -> dict[str, Any]:
    """A TOML file that is only a hint: empty if it cannot be read."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _json(root: Path, name: str) -> dict[str, Any]:
    try:
        found = json.loads(readable_text(root, name) or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _bare(version: str) -> str:
    """Without the vendor before or after it (`temurin-17.0.1+12`, `17.0.1-tem`), and old Java's 1.8 as 8."""
    found = re.search(r"\d+(?:\.\d+)*", version)
    return re.sub(r"^1\.8(?=\.0|$)", "8", found[0]) if found else version


def _numbers(version: str) -> tuple[int, ...]:
    found = _VERSION.match(version)
    return tuple(int(number) for number in found[1].split(".")) if found else ()


def running_version(output: str) -> str:
    """The first version in what a program says of itself; old Java's `1.8` is 8."""
    found = re.search(r"(?<![\w.])(?:v|go)?(\d+(?:\.\d+)+)", output) or re.search(r"version \"(\d+)", output)
    version = found[1] if found else ""
    return _bare(version)


def _resolved(version: str) -> str:
    """An alias of nvm as the version it stands for."""
    place = _folder("NVM_DIR", ".nvm") / "alias"
    for _ in range(_ALIASES):
        if _numbers(version) or not re.fullmatch(r"[\w*-]+(?:/[\w*-]+)?", version):
            break
        try:
            version = read_regular(place / version, largest=_LARGEST).decode("utf-8", "replace").strip()
        except OSError:
            return ""
    return version


def _folder(variable: str, usual: str) -> Path:
    named = os.environ.get(variable, "")
    return Path(named) if named else Path("~").expanduser() / usual


def _installed() -> Iterator[tuple[tuple[int, ...], Path]]:
    for variable, usual, below, inside in _PLACES:
        place = _folder(variable, usual) / below
        try:
            names = [entry.name for entry in islice(place.iterdir(), _MOST)]
        except OSError:
            continue
        for name in names:
            folder = place / name / inside
            if (numbers := _numbers(name)) and len(numbers) > 2 and (folder / "node").exists():  # noqa: PLR2004
                yield numbers, folder


def sentence_of(wanted: RequestedVersion, running: str) -> str:
    """The sentence that the running version is not the requested one."""
    tool = TOOLCHAINS[wanted.tool]
    least = " or newer" if wanted.is_least else ""
    return (
        f"{wanted.file} asks for {tool.title} {wanted.version}{least}, and `{tool.program}` here is {running}: "
        "install it, or start kotef where it comes first on PATH"
    )


def questions(root: Path, env: Mapping[str, str]) -> Iterator[tuple[RequestedVersion, str]]:
    """Each version asked for, with the command line that shows which one runs; none for programs that are not there."""
    for wanted in wanted_versions(root):
        tool = TOOLCHAINS[wanted.tool]
        folder = node_folder(root) if wanted.tool == "node" else None
        if folder is None and _numbers(_resolved(wanted.version)) and shutil.which(tool.program, path=env.get("PATH")):
            yield wanted, f"{tool.program} {tool.question}"
