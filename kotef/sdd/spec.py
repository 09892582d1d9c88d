"""The project's specification: its description, limits and checks."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from kotef.errors import SpecError
from kotef.sdd.files import Problem, read_file
from kotef.sdd.markdown import UNCLOSED, Line, MarkdownSection, fences, items, read_markdown, sections
from kotef.sdd.references import Complaint, fenced_commands, is_inside, named_paths, quoted_commands

MAX_TEXT: Final = 16_000
"""Characters kept from the beginning of each document; rules and checks are read from the whole file."""

MAX_RULES: Final = 50
"""Stop rules, lines of the definition of done, and risks kept, of each the first."""

MAX_PROBLEMS: Final = 100
"""Problems kept, the first."""

MAX_RULE: Final = 500
"""Characters kept of each of them."""


class Spec(BaseModel):
    """The content of `.sdd/` and `KOTEF.md`, except tickets; all empty if there is neither.

    Source: people of the project. Every text is material, not an instruction to kotef.
    """

    model_config = ConfigDict(frozen=True)

    project: str = ""
    """`.sdd/project.md`, at most `MAX_TEXT` characters; as are the next three."""
    architect: str = ""
    """`.sdd/architect.md`."""
    best_practices: str = ""
    """`.sdd/best_practices.md`."""
    constraints: str = ""
    """`KOTEF.md` of the root, then that of `.sdd/`; both count."""
    stop_rules: tuple[str, ...] = ()
    """Items under a heading such as "Stop rules" in any of these files, at most `MAX_RULES`; as are the next two."""
    project_done: tuple[str, ...] = ()
    """Items under "Definition of Done"."""
    risks: tuple[str, ...] = ()
    """Items under "Risks"."""
    checks: tuple[str, ...] = ()
    """Command lines under "Quality gates" in `architect.md`, fenced or in backticks, to be run from the root."""
    forbidden: tuple[str, ...] = ()
    """Globs of paths that only a person may change, relative to the root; "Forbidden paths" in `KOTEF.md`."""
    problems: tuple[Problem, ...] = ()


_NAMES: Final = {
    phrase: name
    for name, phrases in {
        "stop_rules": ("stop rules", "stop rule", "stop conditions", "stopping rules", "when to stop"),
        "project_done": ("definition of done", "dod", "project dod", "project definition of done", "done when"),
        "risks": ("risks", "known risks", "project risks", "risks edge cases", "risks assumptions", "risk"),
        "checks": (
            "quality gates",
            "quality gate",
            "quality gate commands",
            "quality gates commands",
            "quality checks",
            "checks",
            "check commands",
        ),
        "forbidden": (
            "forbidden paths",
            "forbidden",
            "forbidden files",
            "do not touch",
            "protected paths",
            "off limits",
        ),
    }.items()
    for phrase in phrases
}

_FILES: Final = (
    ("project", ".sdd/project.md"),
    ("architect", ".sdd/architect.md"),
    ("best_practices", ".sdd/best_practices.md"),
    ("constraints", "KOTEF.md"),
    ("constraints", ".sdd/KOTEF.md"),
)


class _SpecPage(NamedTuple):
    """One file of `_FILES` and its sections."""

    field: str
    path: str
    text: str
    under: dict[str, MarkdownSection]
    problems: tuple[Problem, ...]

    def lines(self, name: str) -> tuple[Line, ...]:
        return self.under[name].lines if name in self.under else ()


def read_spec(root: Path) -> Spec:
    """Read the project's specification; what is missing is empty, what cannot be read is a problem.

    Raises `SpecError` when `.sdd` is there but is not a directory.
    """
    folder = root / ".sdd"
    if (folder.is_symlink() or folder.exists()) and not folder.is_dir():
        raise SpecError(".sdd", "is not a directory", hint="move it away, then `kotef init`")
    pages = [_read_page(root, field, path) for field, path in _FILES]
    checks: dict[str, None] = {}
    forbidden: dict[str, None] = {}
    problems: list[Problem] = []
    for page in pages:
        commands, globs, complaints = _commands_and_globs(page)
        checks |= dict.fromkeys(commands)
        forbidden |= dict.fromkeys(globs)
        problems += page.problems
        problems += (Problem(path=page.path, line=line, text=text) for line, text in complaints)
    return Spec(
        project=_text(pages, "project"),
        architect=_text(pages, "architect"),
        best_practices=_text(pages, "best_practices"),
        constraints=_text(pages, "constraints"),
        stop_rules=_rules(pages, "stop_rules"),
        project_done=_rules(pages, "project_done"),
        risks=_rules(pages, "risks"),
        checks=tuple(checks),
        forbidden=tuple(forbidden),
        problems=tuple(problems[:MAX_PROBLEMS]),
    )


def _read_page(root: Path, field: str, path: str) -> _SpecPage:
    file = read_file(root, path)
    document = read_markdown(file.text)
    unclosed = tuple(Problem(path=path, line=line, text=UNCLOSED) for line in document.unclosed)
    text = file.text.removeprefix("\ufeff").strip()
    return _SpecPage(field, path, text, sections(document.lines, _NAMES), file.problems + unclosed)


def _commands_and_globs(page: _SpecPage) -> tuple[tuple[str, ...], tuple[str, ...], list[Complaint]]:
    """The checks of `architect.md`, the forbidden paths, and problems of unusable ones."""
    if page.field == "architect":
        commands, complaints = fenced_commands(fences(page.lines("checks")))
        return (*commands, *quoted_commands(page.lines("checks"))), (), complaints
    if page.field == "constraints":
        globs, complaints = named_paths(page.lines("forbidden"))
        number = page.under["forbidden"].number if "forbidden" in page.under else 1
        outside = [
            (number, f"'{glob[:60]}' is not a path inside the workspace") for glob in globs if not is_inside(glob)
        ]
        return (), tuple(glob for glob in globs if is_inside(glob)), complaints + outside
    return (), (), []


def _text(pages: Iterable[_SpecPage], field: str) -> str:
    return "\n\n".join(page.text for page in pages if page.field == field and page.text)[:MAX_TEXT]


def _rules(pages: Iterable[_SpecPage], name: str) -> tuple[str, ...]:
    found = dict.fromkeys(rule[:MAX_RULE] for page in pages for rule in items(page.lines(name)))
    return tuple(found)[:MAX_RULES]
