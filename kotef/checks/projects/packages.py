"""Packages of a workspace whose root has no tests of its own: which exist, and which a task concerns."""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any, Final

from kotef.checks.project_config import json_of, readable_text, table, toml_of
from kotef.checks.projects import DetectedCheck
from kotef.checks.projects.environments import environments
from kotef.errors import SpecError
from kotef.files import walk_within

MAX_PACKAGES: Final = 8
"""Packages whose tests are run where nothing says which of them a task concerns."""
_DEEPEST: Final = 3
"""Levels below the root at which a package may lie."""
_MOST: Final = 2_000
"""Folders that are looked at, and entries of one."""
_MANIFESTS: Final = (
    *("pyproject.toml", "setup.py", "setup.cfg", "manage.py", "package.json", "deno.json", "go.mod", "Cargo.toml"),
    *("pom.xml", "build.gradle", "build.gradle.kts", "composer.json", "Gemfile", "mix.exs", "Package.swift", "*.sln"),
    *("CMakeLists.txt", "meson.build"),
)
_PASSED_OVER: Final = re.compile(
    r"\..*|node_modules|vendor|third[-_]?party|external|deps|target|build|dist|out|site-packages|env|venv"
    r"|docs?|examples?|samples?|demos?|fixtures?|testdata|test[-_]data|templates?|tests?|benchmarks?"
)
"""Folders of others' packages, of what is built, and of packages that are only material."""
_MACHINES: Final = re.compile(r"python3? (?=-m )")
_PROGRAM: Final = re.compile(r"[a-z][\w-]*(?= |$)")


def packages(root: Path) -> list[str]:
    """The folders with a manifest, none inside of another, in order of their paths."""
    found: list[str] = []
    for walked in islice(walk_within(root, most=_MOST), _MOST):
        is_package = any(fnmatchcase(name, manifest) for name in walked.others for manifest in _MANIFESTS)
        if walked.path and is_package:
            found.append(walked.path)

        is_deep = walked.path.count("/") >= _DEEPEST - 1
        if walked.path and (is_package or is_deep):
            walked.folders.clear()
        walked.folders[:] = [name for name in walked.folders if not _PASSED_OVER.fullmatch(name)]
    return sorted(found)


def concerned(root: Path, folders: Sequence[str], concerning: str) -> list[str]:
    """The packages that a text names: by their folder, a path in it, or the name in the manifest; else all."""
    named = [folder for folder in folders if any(_is_in(word, concerning) for word in _names(root, folder))]
    return named or list(folders)


def checks(
    root: Path, detect: Callable[[Path], Iterable[DetectedCheck]], *, concerning: str = ""
) -> Iterator[DetectedCheck]:
    """The checks of the packages that the task concerns, at most `MAX_PACKAGES`; each is run in its folder."""
    found: list[list[DetectedCheck]] = []
    for folder in concerned(root, packages(root), concerning):
        try:
            own = [_inside(root, folder, each) for each in detect(root / folder)]
        except SpecError:  # a manifest of one package that cannot be read is not a reason to run no tests of others
            continue
        if any(each.role == "test" for each in own):
            found.append(own)
    if len(found) > 1 and not _is_narrowed(root, concerning) and (whole := _of_workspaces(root)):
        yield whole
        return
    for own in found[:MAX_PACKAGES]:
        yield from own


def _is_narrowed(root: Path, concerning: str) -> bool:
    folders = packages(root)
    return len(concerned(root, folders, concerning)) < len(folders)


def _of_workspaces(root: Path) -> DetectedCheck | None:
    """The one command that runs the tests of all workspaces of npm or pnpm."""
    if (root / "pnpm-workspace.yaml").is_file():
        return DetectedCheck("pnpm -r test", "pnpm -r test", "test", "pnpm-workspace.yaml")
    if "workspaces" in json_of(root, "package.json") and not (root / "yarn.lock").is_file():
        line = "npm test --workspaces --if-present"
        return DetectedCheck("npm test --workspaces", line, "test", "package.json: workspaces")
    return None


def _inside(root: Path, folder: str, found: DetectedCheck) -> DetectedCheck:
    command = _with_environment_of(root, folder, found.command)
    if re.search(r" -m pytest\b", command):
        command += f" --rootdir={'/'.join('..' for _ in folder.split('/'))}"  # ids begin at the workspace's root
    return DetectedCheck(
        f"{folder} {found.name}", f"cd {shlex.quote(folder)} && {command}", found.role, f"{folder}/{found.source}"
    )


def _with_environment_of(root: Path, folder: str, command: str) -> str:
    """With the programs of the environment at the root, where the package has none of its own."""
    if any(environments(root / folder)) or (environment := next(environments(root), None)) is None:
        return command
    place = environment.directory
    if place and not place.startswith("/"):
        place = os.path.relpath(root / place, root / folder)
    if _MACHINES.match(command):
        python = f"{shlex.quote(f'{place}/python')} " if place else f"{environment.python} "
        return _MACHINES.sub(lambda _: python, command, count=1)
    program = _PROGRAM.match(command)
    if program and place and (root / folder / place / program[0]).exists():
        return f"{shlex.quote(f'{place}/{program[0]}')}{command[program.end() :]}"
    return command


def _names(root: Path, folder: str) -> Iterator[str]:
    """How a person names a package."""
    yield folder
    last = folder.rpartition("/")[2]
    if len(last) > 2:  # noqa: PLR2004  a shorter one is part of too many sentences
        yield last
    place = root / folder
    for names in (_manifest(place, "package.json"), _manifest(place, "pyproject.toml"), _manifest(place, "Cargo.toml")):
        yield from names
    if module := re.search(r"^module (\S+)", readable_text(root, f"{folder}/go.mod"), re.MULTILINE):
        yield module[1]


def _manifest(place: Path, name: str) -> Iterator[str]:
    try:
        content: dict[str, Any] = json_of(place, name) if name.endswith(".json") else toml_of(place, name)
    except SpecError:
        return
    for holder in (content, table(content, "project"), table(content, "package")):
        if isinstance(named := holder.get("name"), str) and len(named) > 2:  # noqa: PLR2004  as above
            yield named


def _is_in(word: str, text: str) -> bool:
    """Whether it is in the text as a word of its own, or as the beginning of a path."""
    return re.search(rf"(?<![\w./-]){re.escape(word)}(?![\w-])", text) is not None
