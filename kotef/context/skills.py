"""Skills available in this workspace, and their texts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from kotef.errors import KotefError
from kotef.files import list_within, resolve_inside, walk_within
from kotef.sdd.files import Problem, read_file
from kotef.sdd.frontmatter import FrontmatterError, read_frontmatter

PLACES: Final = (".sdd/skills", ".agents/skills")
"""Folders of a repository; the first takes precedence over the second, and both over the user's."""
FILE: Final = "SKILL.md"
MAX_DESCRIPTION: Final = 1024
_MOST: Final = 5_000
"""Entries of one folder, and folders of one skill, that are read."""

MAX_FOLDERS: Final = 200
"""Folders looked at in one place."""
SHOWN: Final = 8
"""Skills that a first message names; others can be searched."""
MAX_RESOURCES: Final = 50
_NAME: Final = re.compile(r"[\w][\w.-]{0,63}")


class Skill(NamedTuple):
    """One folder with a SKILL.md."""

    name: str
    description: str
    place: str
    """Where it is from: `.sdd/skills`, `.agents/skills`, or the user's directory."""
    folder: Path
    """Absolute, without links."""
    has_files: bool
    """Whether it has other files besides SKILL.md."""


@dataclass(frozen=True, slots=True)
class Skills:
    """The skills that were found."""

    found: tuple[Skill, ...] = ()
    """By name."""
    hidden: tuple[Skill, ...] = ()
    """Skills that another one of the same name hides."""
    problems: tuple[Problem, ...] = ()

    def named(self, name: str) -> Skill | None:
        """The skill of this name, whatever the case of its letters."""
        return next((skill for skill in self.found if skill.name.casefold() == name.strip().casefold()), None)

    def about(self, query: str) -> list[Skill]:
        """Skills whose name or description contains words of the query, best first; all without a query."""
        words = set(re.findall(r"\w+", query.casefold()))
        counts = {skill: _hits(skill, words) for skill in self.found}
        ranked = sorted(self.found, key=lambda skill: (-counts[skill], skill.name))
        return [skill for skill in ranked if counts[skill] or not words]


def find_skills(root: Path, user: Path) -> Skills:
    """The skills of a workspace and of a user; what is wrong with one is a problem, never an error.

    A folder of the repository that leads out of it is one; the user's own directory may link wherever it likes.
    """
    places = [(root, f"{place}/") for place in PLACES] + [(user, "")]
    found: dict[str, Skill] = {}
    hidden: list[Skill] = []
    problems: list[Problem] = []
    for base, prefix in places:
        for folder in _folders(base, prefix):
            skill = _read(base, prefix, folder)
            if isinstance(skill, Problem):
                problems.append(skill)
            elif skill.name in found:
                hidden.append(skill)
            else:
                found[skill.name] = skill
    return Skills(tuple(found[name] for name in sorted(found)), tuple(hidden), tuple(problems))


def body_of(skill: Skill) -> str:
    """The text of a skill, without its head. Raises `WorkspaceError` or `FrontmatterError` if it cannot be read."""
    text = read_file(skill.folder, FILE)
    for problem in text.problems:
        raise FrontmatterError(problem.line, problem.text)
    return read_frontmatter(text.text).body


def resources_of(skill: Skill) -> list[str]:
    """Its other files, relative to its folder, sorted; at most `MAX_RESOURCES`."""
    return sorted(islice(_files(skill.folder), MAX_RESOURCES))


def _files(folder: Path) -> Iterator[str]:
    for walked in islice(walk_within(folder, most=_MOST), _MOST):
        walked.folders[:] = [
            name for name in walked.folders if not name.startswith((".", "__pycache__", "node_modules"))
        ]
        below = f"{walked.path}/" if walked.path else ""
        yield from (path for name in walked.others if (path := f"{below}{name}") != FILE)


def _folders(base: Path, prefix: str) -> Sequence[str]:
    """Names of folders; in the user's own directory they may be links."""
    try:
        found = list_within(base, prefix.rstrip("/"), most=_MOST) if prefix else list_within(base, most=_MOST)
    except OSError:
        return ()
    names = [entry.name for entry in found if entry.is_directory or (base / prefix / entry.name).is_dir()]
    return [name for name in names if not name.startswith(".")][:MAX_FOLDERS]


def _read(base: Path, prefix: str, folder: str) -> Skill | Problem:
    """The skill of a folder, or what is wrong with it."""
    name = f"{prefix}{folder}/{FILE}"
    shown = name if prefix else str(base / name)
    own = base if prefix else (base / folder).resolve()
    text = read_file(own, name if prefix else FILE)
    if not text.found:
        return Problem(path=shown, line=1, text=f"there is no {FILE}; every folder here must be a skill")
    for problem in text.problems:
        return problem.model_copy(update={"path": shown})
    try:
        fields, _ = read_frontmatter(text.text)
        real = resolve_inside(own, name if prefix else FILE, write=False)
    except FrontmatterError as error:
        return Problem(path=shown, line=error.line, text=str(error))
    except KotefError as error:
        return Problem(path=shown, line=1, text=str(error))
    called, description = fields.get("name", ""), " ".join(fields.get("description", "").split())
    if not _NAME.fullmatch(called):
        return Problem(path=shown, line=1, text="its field name must be one word of letters, digits, `-`, `_` and `.`")
    if not description:
        return Problem(path=shown, line=1, text="the field description is missing; it says when to use the skill")
    place = prefix.removesuffix("/") or str(base)
    return Skill(called, description[:MAX_DESCRIPTION], place, real.parent, any(_files(real.parent)))


def _hits(skill: Skill, words: set[str]) -> int:
    text = f"{skill.name} {skill.description}".casefold()
    return sum(word in text for word in words)
