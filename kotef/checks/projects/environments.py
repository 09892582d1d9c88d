"""Python environments of a project: where they are, what is installed in them, how to create one."""

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from kotef.checks.project_config import readable_text, table, toml_of
from kotef.checks.projects.environment_stores import stored_environments
from kotef.files import list_within, read_regular

_USUAL: Final = (".venv", "venv", "env")
"""Folders that are taken for an environment by their name; any other needs a `pyvenv.cfg`."""
_NESTED: Final = (".tox", ".nox", ".pixi/envs")
_MOST: Final = 500
"""Entries of a folder that are looked at."""
_LARGEST: Final = 64 * 1024
"""Bytes of a file that says where a package was installed from."""
_RUNNERS: Final = (("uv.lock", "uv"), ("poetry.lock", "poetry"), ("pdm.lock", "pdm"), ("Pipfile.lock", "pipenv"))
_SYNC: Final = {
    "uv.lock": "uv sync",
    "poetry.lock": "poetry install",
    "pdm.lock": "pdm sync",
    "Pipfile.lock": "pipenv install --dev",
    "pixi.lock": "pixi install",
}
_GROUPS: Final = ("tests", "test", "testing", "dev")
_REQUIREMENTS: Final = re.compile(
    r"(?:requirements[-_.])?(?:tests?|testing|dev(?:elopment)?)(?:[-_.]requirements)?\.txt"
)
_NAME: Final = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?:[<>=!~(@][^;]*)?$")
"""A requirement without a condition; what holds for some machines only is not asked for."""


class Environment(NamedTuple):
    """What is in front of `python` and of programs."""

    directory: str
    """Folder of its programs, from the root or absolute; empty if a tool finds it, or PATH does."""
    runner: str = ""
    """`uv run ` and the like; empty if there is none."""
    interpreter: str = "python"
    """The name of the interpreter behind `runner`."""

    @property
    def python(self) -> str:
        """The interpreter, as a command line begins."""
        return shlex.quote(f"{self.directory}/python") if self.directory else f"{self.runner}{self.interpreter}"

    def has(self, root: Path, module: str) -> bool:
        """Whether a package of that name is in it; False if a tool has to be asked."""
        if not self.directory:
            return False
        return any((place / name).exists() for place in self.packages(root) for name in (module, f"{module}.py"))

    def packages(self, root: Path) -> list[Path]:
        """The folders with what is installed in it; none where a tool has to be asked."""
        if not self.directory:
            return []
        lib = (root / self.directory).parent / "lib"
        try:
            versions = [entry.name for entry in lib.iterdir() if entry.name.startswith(("python", "pypy"))]
        except OSError:
            return []
        return [lib / version / "site-packages" for version in versions]

    def holds_project(self, root: Path) -> bool:
        """Whether the project itself is installed in it, as a copy or as a link to the workspace."""
        forms = (f"file://{root}", f"{root}\n", f"{root}/", f"'{root}")
        for place in self.packages(root):
            files = chain(place.glob("*.dist-info/direct_url.json"), place.glob("*.egg-link"), place.glob("*.pth"))
            for file in islice(files, _MOST):
                try:
                    text = read_regular(file, largest=_LARGEST).decode("utf-8", "replace")
                except OSError:
                    continue
                if any(each in f"{text}\n" for each in forms):
                    return True
        return False


def environment_of(root: Path, module: str) -> Environment | None:
    """The first of the project's environments that holds `module`, else the first; None: it has none."""
    found = list(environments(root))
    return next((each for each in found if each.has(root, module)), found[0] if found else None)


def environments(root: Path) -> Iterator[Environment]:
    """The project's own environments, the most usual first.

    In the workspace: `.venv`, `venv`, `env`, any folder with a `pyvenv.cfg` or of conda, `$VIRTUAL_ENV`, those of tox,
    nox and pixi; outside: what the tool of a lock file runs programs in, and where such tools keep environments.
    """
    seen: set[str] = set()
    for name in (*_top(root), *_active(root), *_nested(root)):
        if name not in seen and (root / name / "bin" / "python").exists():
            seen.add(name)
            yield Environment(f"{name}/bin")
    for lock, tool in _RUNNERS:
        if (root / lock).is_file() and shutil.which(tool):
            yield Environment("", f"{tool} run ")
    yield from (Environment(f"{prefix}/bin") for prefix in stored_environments(root))
    yield from _packages_folder(root)


def lock_of(root: Path) -> str:
    """The lock file that says how the environment is made; empty without one."""
    return next((lock for lock in _SYNC if (root / lock).is_file()), "")


def making(root: Path, module: str) -> str:
    """The command line that makes the environment the project's files describe, `module` included."""
    if (lock := lock_of(root)) and shutil.which(_SYNC[lock].split()[0]):
        return _SYNC[lock]
    what = _what(root, module)
    pip = ".venv/bin/python -m pip install"
    newer = f"{pip} -U pip && " if "--group" in what else ""  # pip 25.1 was the first that knows groups
    return f"python3 -m venv .venv && {newer}{pip} {what}"


def requirements(root: Path) -> tuple[str, ...]:
    """Names of the distributions that the project cannot be imported without, as far as its files name them plainly."""
    project = table(toml_of(root, "pyproject.toml"), "project")
    declared = project.get("dependencies")
    lines = declared if isinstance(declared, list) else []
    if not project:
        lines = readable_text(root, "requirements.txt").splitlines()
    names = (_NAME.match(line) for line in lines if isinstance(line, str))
    return tuple(dict.fromkeys(name[1] for name in names if name))


def packages_in_src(root: Path) -> tuple[str, ...]:
    """Packages and modules below `src/`, which are importable once the project is installed."""
    try:
        entries = list_within(root, "src", most=_MOST)
    except OSError:
        return ()
    if any(entry.name == "__init__.py" for entry in entries):
        return ()
    folders = [entry.name for entry in entries if entry.is_directory and entry.name.isidentifier()]
    return tuple(name for name in folders if (root / "src" / name / "__init__.py").is_file())


def _what(root: Path, module: str) -> str:
    """What pip is to install: the project, and where its files name them what its tests need."""
    pyproject = toml_of(root, "pyproject.toml")
    extras = table(pyproject, "project", "optional-dependencies")
    groups = table(pyproject, "dependency-groups")
    extra = next((name for name in _GROUPS if name in extras), "")
    group = next((name for name in _GROUPS if name in groups and _names(groups, name, module)), "")
    files = [name for name in _text_files(root) if _REQUIREMENTS.fullmatch(name.rpartition("/")[2])]

    parts: list[str] = []
    if table(pyproject, "project") or (root / "setup.py").is_file():
        parts.append(f"-e '.[{extra}]'" if extra else "-e .")
    elif (root / "requirements.txt").is_file():
        parts.append("-r requirements.txt")
    if group:
        parts.append(f"--group {group}")
    elif files and not extra:
        parts.append(f"-r {files[0]}")

    required = readable_text(root, files[0]) if files else ""
    needs = "\n".join((str(extras.get(extra, "")), required))
    if not group and module not in needs:
        parts.append(module)
    return " ".join(parts)


def _names(groups: dict[str, Any], name: str, module: str) -> bool:
    listed = groups[name]
    return isinstance(listed, list) and any(re.match(rf"{module}\b", each) for each in listed if isinstance(each, str))


def _text_files(root: Path) -> list[str]:
    found = [entry.name for entry in _entries(root, ".") if entry.is_file]
    return found + [f"requirements/{entry.name}" for entry in _entries(root, "requirements") if entry.is_file]


def _top(root: Path) -> Iterator[str]:
    yield from _USUAL
    for entry in _entries(root, "."):
        marks = (root / entry.name / mark for mark in ("pyvenv.cfg", "conda-meta/history"))
        if entry.is_directory and any(mark.is_file() for mark in marks):
            yield entry.name


def _active(root: Path) -> Iterator[str]:
    """`$VIRTUAL_ENV` where it is in the workspace."""
    active = os.environ.get("VIRTUAL_ENV", "")
    if active and Path(active).is_relative_to(root):
        yield Path(active).relative_to(root).as_posix()


def _nested(root: Path) -> Iterator[str]:
    for place in _NESTED:
        yield from (f"{place}/{entry.name}" for entry in _entries(root, place) if entry.is_directory)


def _packages_folder(root: Path) -> Iterator[Environment]:
    """`__pypackages__/3.12/lib` of pdm, for the interpreter of that version."""
    for entry in _entries(root, "__pypackages__"):
        python = f"python{entry.name}"
        if re.fullmatch(r"3\.\d+", entry.name) and shutil.which(python):
            yield Environment("", f"PYTHONPATH=__pypackages__/{entry.name}/lib ", interpreter=python)


def _entries(root: Path, path: str) -> list[Any]:
    try:
        return list_within(root, path, most=_MOST)
    except OSError:
        return []
