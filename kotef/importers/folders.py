"""Spec folders of other tools in the workspace: finding, reading, and ticking their boxes."""

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from kotef.errors import KotefError, SpecError
from kotef.files import Listed, list_inside, os_fault, read_inside, resolve_inside, write_atomic
from kotef.importers import kiro, spec_kit
from kotef.importers.spec import ForeignSpec, ticket_from
from kotef.importers.tasks import tick_tasks
from kotef.sdd.files import MAX_BYTES, Problem, read_file
from kotef.sdd.ticket import Kind, Ticket

MAX_FOLDERS: Final = 300
"""Specs of one place, the first by name."""

MOST: Final = 5_000
"""Entries of one folder that are read."""

MAX_BESIDE: Final = 20
"""Other documents of a spec that are named to the model."""


class Folder(NamedTuple):
    """A spec that has not been read yet."""

    kind: Kind
    path: str
    """Relative to the workspace root."""

    @property
    def name(self) -> str:
        """Without the folder it lies in."""
        return self.path.rpartition("/")[2]


class _Form(NamedTuple):
    kind: Kind
    place: str
    markers: tuple[str, ...]
    read: tuple[str, ...]
    reader: Callable[[str, Mapping[str, str], tuple[str, ...]], ForeignSpec]


_FORMS: Final = (
    _Form("spec-kit", "specs", spec_kit.MARKERS, spec_kit.READ, spec_kit.read_spec_kit),
    _Form("spec-kit", ".specify/specs", spec_kit.MARKERS, spec_kit.READ, spec_kit.read_spec_kit),
    _Form("kiro", ".kiro/specs", kiro.MARKERS, kiro.READ, kiro.read_kiro),
)


def foreign_folders(root: Path) -> tuple[Folder, ...]:
    """Every folder of the known places that holds a file of its tool, by place and name; nothing is read."""
    return tuple(
        Folder(form.kind, f"{form.place}/{name}")
        for form in _FORMS
        for name in _names(root, form.place)
        if _is_spec(root / form.place / name, form.markers)
    )


def read_foreign(root: Path, folder: Folder) -> ForeignSpec:
    """What a folder asks for; a file that cannot be read is a problem, and hides no other."""
    form = next(form for form in _FORMS if folder.path.startswith(f"{form.place}/") and form.kind == folder.kind)
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    for name in form.read:
        file = read_file(root, f"{folder.path}/{name}")
        problems += file.problems
        if file.found:
            texts[name] = file.text
    beside = [name for name in _documents(root, folder.path) if name not in form.read]
    spec = form.reader(folder.path, texts, tuple(beside[:MAX_BESIDE]))
    return spec.model_copy(update={"problems": (*problems, *spec.problems)})


def list_foreign(root: Path) -> tuple[ForeignSpec, ...]:
    """Every spec of another tool, read."""
    return tuple(read_foreign(root, folder) for folder in foreign_folders(root))


def tick_foreign(root: Path, ticket: Ticket, proved: Collection[tuple[str, int]]) -> tuple[str, ...]:
    """Tick the boxes on these lines (path and number) where they stand; returns the names of what is ticked now.

    Nothing is moved, and every other byte stays as it is. Doing it again changes nothing.

    Raises `SpecError` when the spec asks for something else than when the run began; `NoSpaceError` and
    `WorkspaceError` when it cannot be written.
    """
    wanted = {(line.path, line.line): line for line in ticket.done if line.box and (line.path, line.line) in proved}
    if not wanted:
        return ()
    if _now(root, ticket) != _comparable(ticket):
        raise SpecError(ticket.path, "was changed during the run", hint="check it, then tick by hand what is done")
    for path in dict.fromkeys(path for path, _ in wanted):
        file = resolve_inside(root, path, write=False)
        try:
            before = read_inside(root, path, largest=MAX_BYTES)
            lines = {number for where, number in wanted if where == path}
            after = tick_tasks(before.decode("utf-8", "surrogateescape"), lines).encode("utf-8", "surrogateescape")
            if after != before:
                write_atomic(file, after, root=root)
        except OSError as error:
            raise os_fault(path, error) from error
    return tuple(line.label or f"{line.path}:{line.line}" for line in wanted.values())


def _now(root: Path, ticket: Ticket) -> Ticket | None:
    """The ticket as the folder says it now; None if it cannot be read as one."""
    spec = read_foreign(root, Folder(ticket.kind, ticket.path))
    unticked = tuple(task.model_copy(update={"checked": False}) for task in spec.tasks)
    selected = ticket.id.removeprefix(spec.id).removeprefix("#")  # the folder's name may hold that sign, too
    try:
        return _comparable(ticket_from(spec.model_copy(update={"tasks": unticked}), selected))
    except KotefError:
        return None


def _comparable(ticket: Ticket) -> Ticket:
    """The ticket without what may differ although it asks for the same."""
    done = tuple(line.model_copy(update={"checked": False}) for line in ticket.done)
    return ticket.model_copy(update={"done": done, "problems": (), "dependencies": (), "objective": "", "sketch": ""})


def _names(root: Path, place: str) -> list[str]:
    """Folders of a place that may be specs; hidden ones and drafts (`_`) are none."""
    try:
        found = list_inside(root, place, most=MOST)
    except OSError:
        return []
    names = [entry.name for entry in found if entry.is_directory or (root / place / entry.name).is_dir()]
    return [name for name in names if name[0] not in "._" and name.isprintable()][:MAX_FOLDERS]


def _is_spec(folder: Path, markers: Iterable[str]) -> bool:
    """Whether one of these files is in it; a folder without read access counts: reading it reports why."""
    try:
        return any((folder / marker).is_file() for marker in markers)
    except OSError:
        return True


def _documents(root: Path, folder: str) -> list[str]:
    """Markdown files in a folder and one level below it, by name."""
    listed = _listed(root, folder)
    names = [entry.name for entry in listed]
    for entry in listed:
        if entry.is_directory:
            names += [f"{entry.name}/{below.name}" for below in _listed(root, f"{folder}/{entry.name}")]
    return sorted(name for name in names if name.endswith(".md") and name.isprintable() and not _is_hidden(name))


def _listed(root: Path, folder: str) -> list[Listed]:
    try:
        return list_inside(root, folder, most=MOST)
    except OSError:
        return []


def _is_hidden(name: str) -> bool:
    return name.rpartition("/")[2].startswith(".")
