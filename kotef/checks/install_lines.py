"""Install commands for the missing program of a check that cannot start."""

import os
import re
from pathlib import Path
from typing import Final

from kotef.checks.projects import node
from kotef.checks.projects.environments import environments, making
from kotef.shell import unwrap, words_of

NODE: Final = frozenset({"npm", "pnpm", "yarn", "bun"})
"""Package managers whose scripts find programs in `node_modules/.bin`."""
PYTHON: Final = re.compile(r"(?:\S*/)?(?:python|pypy)[\d.]*")
_OF_PYTHON: Final = frozenset(
    {
        *("pytest", "nose2", "trial", "behave", "tox", "nox", "coverage", "stestr"),
        *("ruff", "flake8", "pylint", "mypy", "pyright", "basedpyright", "black", "isort"),
    }
)
"""Programs that pip installs under their own names."""
_OF_TOOLCHAINS: Final = {
    "clippy": "rustup component add clippy",
    "cargo": "see https://rustup.rs",
    "go": "see https://go.dev/doc/install",
    "node": "see https://nodejs.org",
    "npm": "see https://nodejs.org",
    "pnpm": "corepack enable pnpm",
    "yarn": "corepack enable yarn",
    "just": "see https://just.systems",
    "meson": "python3 -m pip install meson",
    "cmake": "see https://cmake.org/download",
    "mvn": "see https://maven.apache.org/install.html",
    "gradle": "see https://gradle.org/install",
    "deno": "see https://docs.deno.com/runtime/getting_started/installation",
    "bun": "see https://bun.com/docs/installation",
    "bundle": "gem install bundler",
    "rake": "gem install rake",
    "composer": "see https://getcomposer.org/download",
    "dotnet": "see https://dotnet.microsoft.com/download",
    "mix": "see https://elixir-lang.org/install.html",
    "swift": "see https://www.swift.org/install",
    "zig": "see https://ziglang.org/download",
    "bazel": "see https://bazel.build/install",
}


def words_after_assignments(command: str) -> list[str]:
    """The words of a command line from its first program on; never empty."""
    words = words_of(command)
    while words and re.match(r"\w+=", words[0]):
        words = words[1:]
    return words or [""]


def install_line(program: str, command: str, root: Path, *, module: str = "") -> str:
    """The command that brings `program`, or the `module` it is given; empty if only its own manual could say."""
    wanted = module or Path(program).name
    if set(unwrap(command).tools) & NODE and program not in NODE:
        return node.making(root)
    if wanted in _OF_PYTHON or PYTHON.fullmatch(program):
        return _of_python(program, wanted, root)
    return _OF_TOOLCHAINS.get(wanted, "")


def _of_python(program: str, module: str, root: Path) -> str:
    """With pip of the environment there is, else by making the environment."""
    own = next((each.directory for each in environments(root) if each.directory), _active())
    directory = program.rpartition("/")[0] if "/" in program else own
    if not directory or not (root / directory / "python").exists():
        return making(root, module)
    if not (root / directory / "pip").exists():
        return f"uv pip install -p {directory}/python {module}"
    return f"{directory}/python -m pip install {module}"


def _active() -> str:
    """The programs of the virtual environment that the person has activated; empty without one."""
    active = os.environ.get("VIRTUAL_ENV", "")
    return f"{active}/bin" if Path(active).is_absolute() else ""
