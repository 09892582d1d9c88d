"""Python environments outside the workspace: where poetry, hatch, pdm, virtualenvwrapper, pyenv and conda keep them."""

import base64
import hashlib
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from kotef.checks.project_config import readable_text, table, toml_of
from kotef.files import read_regular

_UNUSUAL: Final = re.compile(r"[ $`!*@\"\\\r\n\t]")
"""Characters that poetry replaces in the name of an environment."""
_MOST: Final = 500
"""Entries of a folder that are looked at."""
_LARGEST: Final = 64 * 1024
"""Bytes of a file that names an environment or a project."""
_CONDA_ROOTS: Final = (
    "miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".conda", "/opt/conda", "/opt/miniconda3"
)  # fmt: skip
_CONDA_FILES: Final = ("environment.yml", "environment.yaml", "conda.yml", "environment-dev.yml")
_CONDA_NAME: Final = re.compile(r"^name: *['\"]?([\w.+-]+)", re.MULTILINE)
_PYENV_NAME: Final = re.compile(r"[A-Za-z][\w.+-]*")
"""A name that `.python-version` gives, and not a version."""


def stored_environments(root: Path) -> Iterator[Path]:
    """The folders of the environments that were made for this workspace, as far as files and folders show."""
    for prefix in (*_poetry(root), *_hatch(root), *_pdm(root), *_virtualenvwrapper(root), *_pyenv(root), *_conda(root)):
        if (prefix / "bin" / "python").exists():
            yield prefix


def _digest(algorithm: str, path: str) -> str:
    """How these tools shorten the path of a project to eight characters."""
    digest = hashlib.new(algorithm, os.fsencode(path), usedforsecurity=False).digest()
    return base64.urlsafe_b64encode(digest).decode()[:8]


def _folders(place: Path, start: str = "") -> list[Path]:
    try:
        found = [place / entry.name for entry in islice(place.iterdir(), _MOST) if entry.name.startswith(start)]
    except OSError:
        return []
    return sorted(found)


def _home() -> Path:
    return Path("~").expanduser()


def _data() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or _home() / ".local/share")


def _project_name(root: Path, *tool: str) -> str:
    pyproject = toml_of(root, "pyproject.toml")
    name = (table(pyproject, "tool", *tool).get("name") if tool else "") or table(pyproject, "project").get("name")
    return name if isinstance(name, str) else ""


def _poetry(root: Path) -> list[Path]:
    """For when poetry itself is not on PATH."""
    name = _project_name(root, "poetry")
    if not (root / "poetry.lock").is_file() or not name:
        return []
    cache = os.environ.get("POETRY_CACHE_DIR") or str(_home() / ".cache/pypoetry")
    place = Path(os.environ.get("POETRY_VIRTUALENVS_PATH") or f"{cache}/virtualenvs")
    start = f"{_UNUSUAL.sub('_', name.lower())[:42]}-{_digest('sha256', os.path.realpath(root))}-py"
    return _folders(place, start)


def _hatch(root: Path) -> list[Path]:
    """The default environment first; `.hatch` where its configuration keeps them in the project."""
    name = re.sub(r"[-_.]+", "-", _project_name(root)).lower()
    if not name or not ("hatch" in table(toml_of(root, "pyproject.toml"), "tool") or (root / "hatch.toml").is_file()):
        return []
    data = Path(os.environ.get("HATCH_DATA_DIR") or _data() / "hatch")
    places = (root / ".hatch", data / "env/virtual" / name / _digest("sha256", str(root)))
    found = [folder for place in places for folder in _folders(place)]
    return sorted(found, key=lambda folder: folder.name != name)


def _pdm(root: Path) -> list[Path]:
    """What `pdm use` chose where that is an environment of pdm's, else those it made for this folder."""
    if not (root / "pdm.lock").is_file() and "pdm" not in table(toml_of(root, "pyproject.toml"), "tool"):
        return []
    place = _data() / "pdm/venvs"
    chosen = Path(readable_text(root, ".pdm-python").strip() or "/").parent.parent
    made = _folders(place, f"{root.name}-{_digest('md5', root.as_posix())}-")
    return [chosen, *made] if chosen in made else made


def _virtualenvwrapper(root: Path) -> list[Path]:
    """Those whose `.project` is this folder."""
    place = Path(os.environ.get("WORKON_HOME") or _home() / ".virtualenvs")
    return [folder for folder in _folders(place) if _text(folder / ".project").strip() == str(root)]


def _pyenv(root: Path) -> list[Path]:
    """The environment that `.python-version` names."""
    name = readable_text(root, ".python-version").strip()
    place = Path(os.environ.get("PYENV_ROOT") or _home() / ".pyenv") / "versions"
    return [place / name] if _PYENV_NAME.fullmatch(name) and (place / name / "pyvenv.cfg").is_file() else []


def _conda(root: Path) -> list[Path]:
    """The environment of the name that the environment file gives, in any of conda's folders."""
    names = (_CONDA_NAME.search(readable_text(root, file)) for file in _CONDA_FILES)
    name = next((found[1] for found in names if found), "")
    if not name or name == "base":
        return []

    active = os.environ.get("CONDA_PREFIX", "")
    roots = [os.environ.get(variable, "") for variable in ("MAMBA_ROOT_PREFIX", "CONDA_ROOT")]
    roots += [str(_home() / folder) for folder in _CONDA_ROOTS]
    listed = _text(_home() / ".conda/environments.txt").splitlines()

    known = [active, *(line for line in listed if line.startswith("/"))]
    known += [f"{folder}/envs/{name}" for folder in roots if folder]
    return list(dict.fromkeys(Path(folder) for folder in known if Path(folder).name == name))


def _text(path: Path) -> str:
    try:
        return read_regular(path, largest=_LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
