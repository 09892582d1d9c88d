"""A spec written for another tool, and the ticket made from it."""

import re
from collections.abc import Iterable
from typing import Final

from pydantic import BaseModel, ConfigDict

from kotef.errors import UsageError
from kotef.failures.plural import counted
from kotef.importers.tasks import ImportedTask, depth_of
from kotef.sdd.files import Problem
from kotef.sdd.ticket import MAX_ITEMS, MAX_TEXT, MAX_TITLE, DoneLine, Kind, Ticket

SHOWN: Final = 20
"""Names of tasks in an error."""


class ForeignSpec(BaseModel):
    """One folder of another tool. Source: people of the project, or a model of theirs; material, not instructions."""

    model_config = ConfigDict(frozen=True)

    kind: Kind
    path: str
    """Path of the folder, relative to the workspace root."""
    id: str
    """The name of the folder."""
    title: str
    objective: str = ""
    reading: str = ""
    """What to read before editing: names of documents, and the head of the plan."""
    tasks: tuple[ImportedTask, ...] = ()
    tasks_path: str = ""
    """The file of the tasks; empty if there is none."""
    criteria: tuple[DoneLine, ...] = ()
    """Requirements and acceptance criteria; none has a box."""
    stories: tuple[tuple[str, str], ...] = ()
    """`US1` and what it is about."""
    checks: tuple[str, ...] = ()
    risks: str = ""
    non_goals: str = ""
    files: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def open_tasks(self) -> tuple[ImportedTask, ...]:
        """Those whose box is not ticked."""
        return tuple(task for task in self.tasks if not task.checked)

    @property
    def is_open(self) -> bool:
        """Whether something is left to do: a task that may not be left out, or no list of tasks yet."""
        return not self.tasks or any(not task.optional for task in self.open_tasks)


def progress_text(spec: ForeignSpec) -> str:
    """How far it is, in words: `spec-kit, 3 of 12 tasks open`."""
    if not spec.tasks:
        return f"{spec.kind}, no tasks.md yet"
    return f"{spec.kind}, {len(spec.open_tasks)} of {counted(len(spec.tasks), 'task')} open"


def ticket_from(spec: ForeignSpec, selected: str = "") -> Ticket:
    """The folder as one ticket; with `selected` (`T003`, `2.1`, `US1`) those tasks alone.

    Raises `UsageError` for a task that is not there, or where all that is meant is ticked.
    """
    if not (spec.tasks or spec.criteria or spec.objective):
        if spec.problems:
            raise UsageError(str(spec.problems[0]), hint=f"{spec.path} contains nothing else to work on")
        raise UsageError(f"{spec.path}: contains nothing to work on", hint=f"it was read as {spec.kind}")
    chosen = _chosen(spec, selected) if selected else spec.tasks
    if chosen and all(task.checked for task in chosen):
        what = f"task {_printable(selected)} is" if selected else "all its tasks are"
        raise UsageError(f"{spec.path}: {what} ticked", hint="untick a box, or name a goal")
    ident, slug = _id_and_slug(spec.id)
    if selected:
        named = task_named(spec, selected)
        ident = f"{spec.id}#{named.name if named else selected}"
    tasks = tuple(_done_line(task, spec.tasks_path) for task in chosen)
    criteria = _criteria_of(spec, chosen) if selected else spec.criteria
    done = (*tasks, *criteria)
    problems = spec.problems
    if len(done) > MAX_ITEMS:
        what = f"only the first {MAX_ITEMS} of {len(done)} tasks and criteria are read; name one task: {spec.id}#NAME"
        problems = (*problems, Problem(path=spec.tasks_path or spec.path, line=1, text=what))
    return Ticket(
        kind=spec.kind,
        id=ident,
        slug=slug,
        title=(_title(spec, chosen, selected) if selected else spec.title)[:MAX_TITLE],
        path=spec.path,
        files=spec.files,
        context=spec.objective if selected else "",
        objective=(_objective(spec, chosen) if selected else spec.objective)[:MAX_TEXT],
        done=done[:MAX_ITEMS],
        sketch=spec.reading[:MAX_TEXT],
        affected=tuple(dict.fromkeys(path for task in chosen for path in _paths(task.text)))[:MAX_ITEMS],
        steps=tuple(note for task in chosen for note in task.notes)[:MAX_ITEMS] if selected else (),
        dependencies=_waiting(spec, chosen) if selected else (),
        tests=spec.checks,
        risks=spec.risks,
        non_goals=spec.non_goals,
        problems=problems,
    )


def task_named(spec: ForeignSpec, name: str) -> ImportedTask | None:
    """The task of this name, however it is spelt: `t3` is `T003`."""
    wanted = _key(name)
    return next((task for task in spec.tasks if task.name and _key(task.name) == wanted), None)


def _chosen(spec: ForeignSpec, selected: str) -> tuple[ImportedTask, ...]:
    """One task, with those below it; or those of a story."""
    wanted = _key(selected)
    if re.fullmatch(r"us-?\d+", wanted):
        story = f"US{int(wanted.removeprefix('us').lstrip('-'))}"
        found = tuple(task for task in spec.tasks if task.story == story)
    else:
        found = tuple(task for task in spec.tasks if task.name and f"{_key(task.name)}.".startswith(f"{wanted}."))
    if found:
        return found
    names = [task.name for task in spec.open_tasks if task.name]
    more = ", …" if names[SHOWN:] else ""
    hint = f"open: {', '.join(names[:SHOWN])}{more}" if names else "none of its tasks has a name"
    raise UsageError(f"{spec.path}: no task '{_printable(selected)}'", hint=hint)


def _criteria_of(spec: ForeignSpec, tasks: Iterable[ImportedTask]) -> tuple[DoneLine, ...]:
    """The criteria that these tasks are for: by the requirements they name, or by their story."""
    named = {name.casefold() for task in tasks for name in task.requires}
    stories = {task.story.casefold() for task in tasks if task.story}

    def is_for(line: DoneLine) -> bool:
        label = line.label.casefold()
        return label in named or label.partition(".")[0] in (named | stories)

    return tuple(line for line in spec.criteria if is_for(line))


def _title(spec: ForeignSpec, chosen: tuple[ImportedTask, ...], selected: str) -> str:
    about = dict(spec.stories).get(chosen[0].story, "") if _key(selected).startswith("us") else ""
    title = about.partition("\n")[0] if about else chosen[0].text
    return f"{spec.title}: {title}"


def _objective(spec: ForeignSpec, chosen: tuple[ImportedTask, ...]) -> str:
    """What the chosen tasks say, the story they belong to, and how their part is introduced."""
    items = [f"- {task.name} {task.text}".replace("-  ", "- ") for task in chosen if not task.checked]
    stories = dict(spec.stories)
    about = [stories[story] for story in dict.fromkeys(task.story for task in chosen) if story in stories]
    parts = list(dict.fromkeys(task.about for task in chosen if task.about))
    return "\n\n".join(["\n".join(items), *parts, *about])


def _waiting(spec: ForeignSpec, chosen: tuple[ImportedTask, ...]) -> tuple[str, ...]:
    """Tasks that have to be ticked first and are not, or that do not exist; by full name."""
    own = {task.name for task in chosen}
    found: dict[str, None] = {}
    for name in (name for task in chosen if not task.checked for name in task.depends):
        other = task_named(spec, name)
        if other is None or not (other.checked or other.name in own):
            found[f"{spec.id}#{other.name if other else name}"] = None
    return tuple(found)


def _done_line(task: ImportedTask, path: str) -> DoneLine:
    return DoneLine(
        text=task.text, checked=task.checked, line=task.line, level=depth_of(task.name), label=task.name, path=path
    )


def _id_and_slug(name: str) -> tuple[str, str]:
    found = re.match(r"\d+[-_ ]+(?P<slug>.+)", name)
    return name, found["slug"] if found else name


def _paths(text: str) -> list[str]:
    """Files a task names; words with a folder in them, or in backticks with an ending."""
    words = (word.strip("`.,;:()*\"'") for word in text.split())
    return [word for word in words if re.fullmatch(r"(?:[\w@.-]+/)+[\w@.-]+\.\w{1,8}", word) and ".." not in word]


def _key(name: str) -> str:
    """A name as it is compared: `T003`, `t3` and `3` are not distinguished by zeros or case."""
    return re.sub(r"(?<![\d.])0+(?=\d)", "", name.strip().casefold())


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text[:80])
