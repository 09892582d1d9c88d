"""Plug-ins that a runner's configuration requires but that are not installed.

pytest prints its version whatever its configuration says, so that it is asked again in a way that reads all of it.
"""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kotef.checks.project_config import readable_text

_FILES: Final = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_ASKS: Final = re.compile(r"^\s*(?:addopts|required_plugins)\s*=", re.MULTILINE)
_UNKNOWN: Final = re.compile(r"error: unrecognized arguments: (?P<options>.+)")
_MISSING: Final = re.compile(r"Missing required plugins: (?P<names>.+)")
_IMPORTED: Final = re.compile(r"Error importing plugin \"(?P<name>[\w.]+)\": No module named '(?P<module>[\w.]+)'")
_PLUGIN: Final = re.compile(r"(?<![\w.-])pytest[-_][A-Za-z][\w-]*")
_LISTS: Final = (*_FILES, "requirements.txt", "noxfile.py")
_KNOWN: Final = {
    "n": "pytest-xdist",
    "numprocesses": "pytest-xdist",
    "dist": "pytest-xdist",
    "reruns": "pytest-rerunfailures",
}
"""Options that do not sound like the plug-in they are of."""
_USUAL: Final = frozenset({"cov", "timeout", "mypy", "flake8", "benchmark", "randomly", "asyncio", "mock", "html"})
"""Plug-ins that are named after their options, where the project's files name none."""


class Missing(NamedTuple):
    """A plug-in that is not there."""

    why: str
    distribution: str
    """What pip would install; empty if only the project's own manual could say."""


def configuration_question(words: Sequence[str], root: Path) -> str:
    """The command line that makes pytest read all its configuration and run nothing; empty if nothing asks for it."""
    pytest = next((at for at, word in enumerate(words) if Path(word).name in {"pytest", "py.test"}), None)
    own = any(word.startswith("-") for word in words[(pytest or 0) + 1 :])
    names_plugins = own or any(_ASKS.search(readable_text(root, name)) for name in _FILES)
    return shlex.join([*words, "--markers"]) if pytest is not None and names_plugins else ""


def missing_of(output: str, root: Path) -> Missing | None:
    """Which plug-in pytest lacks by its own words; None if it lacks none, or fails for another reason."""
    if match := _UNKNOWN.search(output):
        options = [word for word in match["options"].split() if word.startswith("-")]
        if not options:
            return None
        return Missing(
            f"pytest does not know {options[0].partition('=')[0]}, an option of a missing plug-in",
            _of(options[0], root),
        )
    if match := _MISSING.search(output):
        names = match["names"].strip()
        return Missing(f"pytest has no {names}", re.split(r"[\s,<>=!~\[]", names)[0])
    if (match := _IMPORTED.search(output)) and match["name"].split(".")[0] == match["module"].split(".")[0]:
        module = match["module"].split(".")[0]
        local = (root / module).exists() or (root / f"{module}.py").exists() or (root / "src" / module).exists()
        return None if local else Missing(f"pytest cannot import its plug-in {match['name']}", _listed(module, root))
    return None


def _of(option: str, root: Path) -> str:
    """The distribution whose option it is: one that the project's files name, or a well-known one."""
    words = option.partition("=")[0].lstrip("-").split("-")
    stem = words[1] if words[0] == "no" and len(words) > 1 else words[0]
    if not option.startswith("--"):
        stem = stem[:1]
    if stem in _KNOWN:
        return _KNOWN[stem]
    return _listed(f"pytest-{stem}", root) or (f"pytest-{stem}" if stem in _USUAL else "")


def _listed(name: str, root: Path) -> str:
    """The distribution of that name, as a file of the project spells it; empty if none does."""
    wanted = name.replace("_", "-").lower()
    named = (found for file in _LISTS for found in _PLUGIN.findall(readable_text(root, file)))
    return next((each for each in named if each.replace("_", "-").lower() == wanted), "")
