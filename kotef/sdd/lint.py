"""Gaps in tickets, and contradictions between them, that keep code from judging the work."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from typing import Final

from pydantic import BaseModel, ConfigDict

from kotef.importers import CHECK_HEADINGS, NEEDS_CLARIFICATION, ForeignSpec, task_named
from kotef.sdd.done_evidence import could_be_proved
from kotef.sdd.files import Problem
from kotef.sdd.markdown import UNCLOSED, Line, read_markdown, sections, words
from kotef.sdd.skeleton import PLACEHOLDER
from kotef.sdd.ticket import (
    HEADER,
    NAMES,
    NO_BOX,
    NO_COMMAND,
    NO_DONE,
    NO_OBJECTIVE,
    NO_TESTS,
    NO_TITLE,
    DoneLine,
    Ticket,
    allowed_edits,
    states_allowed_edits,
    title_and_rest,
)
from kotef.sdd.tickets import EMPTY, TicketFolder, same_name

Missing = Callable[[str], str]
"""The missing program of a command line; empty if none is missing."""

CODES: Final = {
    "no-check": "no command can show that it is done",
    "no-done": "no Definition of Done",
    "no-objective": "nothing says what to do",
    "no-title": "it has no title",
    "no-box": "a line of the Definition of Done has no box",
    "no-paths": "`allow test edits:` names no path",
    "unprovable": "no check can prove this line, so a person must tick it",
    "missing-dependency": "a ticket or task it depends on does not exist",
    "dependency-cycle": "tickets wait for each other",
    "missing-requirement": "a requirement that a task names does not exist",
    "missing-program": "a check starts a program that is not installed",
    "duplicate-id": "two have the same number",
    "empty-ticket": "it asks for nothing",
    "unknown-heading": "a heading that is almost a known one",
    "needs-clarification": "its author left a question open",
    "unclosed-fence": "a block of code never ends",
    "unread": "something could not be read as probably intended",
}
"""Code → its meaning in a few words."""

MAX_RINGS: Final = 20
"""Cycles reported of one graph; names that all wait for each other make thousands, and each takes time to find."""

_SAID: Final = {
    NO_TITLE: "no-title",
    NO_OBJECTIVE: "no-objective",
    NO_DONE: "no-done",
    NO_COMMAND: "no-check",
    NO_TESTS: "no-check",
    NO_BOX: "no-box",
    UNCLOSED: "unclosed-fence",
    EMPTY: "empty-ticket",
}
_CLOSE: Final = 0.8
_THEIR_HEADINGS: Final = (
    *("user scenarios testing", "acceptance criteria", "success criteria", "edge cases", "technical context"),
    *("implementation plan", "functional requirements", "out of scope", *CHECK_HEADINGS),
)


class LintFinding(BaseModel):
    """One gap and its place."""

    model_config = ConfigDict(frozen=True)

    path: str
    line: int
    """Counted from 1."""
    code: str
    """One of `CODES`."""
    message: str
    """One line; if helpful, with what to write instead."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.code}: {self.message}"


def lint_ticket(ticket: Ticket, text: str, commands: Sequence[str], missing: Missing) -> list[LintFinding]:
    """The gaps of one of the project's own tickets; `commands` are the checks that would judge it."""
    lines = read_markdown(text).lines

    def of(code: str, line: int, message: str) -> LintFinding:
        return LintFinding(path=ticket.path, line=line, code=code, message=message)

    if not (ticket.objective or ticket.done or ticket.tests):
        return [of("empty-ticket", 1, "asks for nothing; say under `## Objective & DoD` what should be different")]
    if PLACEHOLDER in ticket.objective:
        return [of("empty-ticket", 1, "is as `kotef init` wrote it; say what should be different, or delete it")]
    found = [_of_problem(problem) for problem in ticket.problems]
    found += [of("unprovable", line.line, _unprovable(line)) for line in _hopeless(ticket.done, commands)]
    found += _typos(ticket.path, lines, NAMES)
    found += _missing_programs(ticket.path, ticket.tests, {ticket.path: lines}, missing)
    found += [of("no-paths", line, "names no path; list the paths after it") for line in _without_paths(lines)]
    return found


def lint_between(folder: TicketFolder, texts: Mapping[str, str]) -> list[LintFinding]:
    """Problems between the project's own tickets; `texts` are their files by path."""
    found = [_of_problem(problem) for problem in folder.problems if "same number" not in problem.text]
    found += _duplicates(folder)
    keys = {same_name(ticket.id): ticket.id for ticket in folder.open} | {
        same_name(one.slug): one.id for one in folder.open
    }
    closed = {same_name(name) for name in (*folder.closed, *folder.closed_slugs)}
    places: dict[tuple[str, str], int] = {}
    by_id = {ticket.id: ticket for ticket in reversed(folder.open)}
    for ticket in folder.open:
        for name in ticket.dependencies:
            line = _dependency_line(texts.get(ticket.path, ""), name)
            places.setdefault((ticket.id, keys.get(same_name(name), "")), line)
            if same_name(name) not in keys and same_name(name) not in closed:
                message = f"depends on {name}, but no such ticket exists, open or closed"
                found.append(LintFinding(path=ticket.path, line=line, code="missing-dependency", message=message))
    graph = {
        ticket.id: [keys[same_name(name)] for name in ticket.dependencies if same_name(name) in keys]
        for ticket in by_id.values()
    }
    for cycle in _cycles(graph):
        path, line = by_id[cycle[0]].path, places.get((cycle[0], cycle[1]), 1)
        message = f"these wait for each other: {' → '.join(cycle)}"
        found.append(LintFinding(path=path, line=line, code="dependency-cycle", message=message))
    return found


def lint_foreign(
    spec: ForeignSpec, texts: Mapping[str, str], commands: Sequence[str], missing: Missing
) -> list[LintFinding]:
    """The gaps of a spec of another tool; `texts` are its files by path."""
    place = spec.tasks_path or next(iter(spec.files), spec.path)

    def of(code: str, line: int, message: str) -> LintFinding:
        return LintFinding(path=place, line=line, code=code, message=message)

    if not (spec.tasks or spec.criteria or spec.objective):
        unread = [_of_problem(problem) for problem in spec.problems]  # what cannot be read may ask for a lot
        return unread or [of("empty-ticket", 1, f"asks for nothing; it was read as {spec.kind}")]
    found = [_of_problem(problem) for problem in spec.problems]
    if not commands:
        found.append(of("no-check", 1, "neither it nor the project names a check; add a block under `## Verification`"))
    tasks = [DoneLine(text=task.text, checked=task.checked, line=task.line, label=task.name) for task in spec.tasks]
    found += [of("unprovable", line.line, _unprovable(line)) for line in _hopeless(tasks, commands)]
    first: dict[str, int] = {}
    for task in spec.tasks:
        if task.name and first.setdefault(task.name.casefold(), task.line) != task.line:
            message = f"{task.name} is already defined in line {first[task.name.casefold()]}"
            found.append(of("duplicate-id", task.line, message))
        for name in (name for name in task.depends if task_named(spec, name) is None):
            found.append(of("missing-dependency", task.line, f"depends on {name}, but no such task exists"))
        for name in task.requires if spec.criteria else ():
            if not any(f"{line.label}.".startswith(f"{name}.") for line in spec.criteria):
                found.append(of("missing-requirement", task.line, f"is for requirement {name}, which does not exist"))
    known = {task.name: task for task in spec.tasks if task.name}
    graph = {
        task.name: [other.name for name in task.depends if (other := task_named(spec, name))] for task in known.values()
    }
    for cycle in _cycles(graph):
        found.append(of("dependency-cycle", known[cycle[0]].line, f"these wait for each other: {' → '.join(cycle)}"))
    read = {path: read_markdown(text).lines for path, text in texts.items()}
    for path, lines in read.items():
        found += _typos(path, lines, dict.fromkeys(_THEIR_HEADINGS, ""))
    return [*found, *_missing_programs(place, spec.checks, read, missing)]


def in_order(findings: Iterable[LintFinding]) -> list[LintFinding]:
    """By place, each once."""
    return sorted(dict.fromkeys(findings), key=lambda found: (found.path, found.line, found.code, found.message))


def _of_problem(problem: Problem) -> LintFinding:
    code, text = _SAID.get(problem.text, "unread"), problem.text
    if text.startswith(NEEDS_CLARIFICATION):
        code, text = "needs-clarification", f"its author left this open:{text.removeprefix(NEEDS_CLARIFICATION)}"
    return LintFinding(path=problem.path, line=problem.line, code=code, message=text)


def _hopeless(done: Iterable[DoneLine], commands: Sequence[str]) -> list[DoneLine]:
    return [line for line in done if line.box and not line.checked and not could_be_proved(line.text, commands)]


def _unprovable(line: DoneLine) -> str:
    what = " ".join(part for part in (line.label, line.text) if part)
    what = what if len(what) <= 60 else f"{what[:59]}…"  # noqa: PLR2004  as wide as a terminal leaves
    return f"no check can prove '{what}'; name a test, a check's command or a file"


def _typos(path: str, lines: Iterable[Line], known: Mapping[str, str]) -> Iterator[LintFinding]:
    """Headings below the title that are almost a known one."""
    for line in lines:
        name = words(line.text) if line.kind == "heading" and line.indent > 1 else ""
        if not name or name in known or words(line.text.partition(":")[0]) in known:
            continue
        if close := get_close_matches(name, known, n=1, cutoff=_CLOSE):
            message = f"'{line.text[:60]}' is not read; did you mean '{close[0].capitalize()}'?"
            yield LintFinding(path=path, line=line.number, code="unknown-heading", message=message)


def _missing_programs(
    path: str, commands: Iterable[str], lines: Mapping[str, Sequence[Line]], missing: Missing
) -> Iterator[LintFinding]:
    for command in commands:
        if program := missing(command):
            where, number = next(
                (
                    (name, line.number)
                    for name, within in lines.items()
                    for line in within
                    if line.kind == "code" and program in line.text
                ),
                (path, 1),
            )
            message = f"`{command[:80]}` starts {program}, which is not installed here"
            yield LintFinding(path=where, line=number, code="missing-program", message=message)


def _without_paths(lines: Sequence[Line]) -> list[int]:
    """Lines `allow test edits:` without a path."""
    stated = [line for line in lines if states_allowed_edits(line)]
    found = []
    for line, following in zip(stated, [*stated[1:], None], strict=False):
        until = following.number if following else len(lines) + 1
        paths, refused = allowed_edits([each for each in lines if line.number <= each.number < until])
        if not paths and not refused:
            found.append(line.number)
    return found


def _duplicates(folder: TicketFolder) -> Iterator[LintFinding]:
    first = {same_name(name): "a closed ticket" for name in reversed(folder.closed)}
    for ticket in folder.open:
        other = first.setdefault(same_name(ticket.id), ticket.path)
        if other != ticket.path:
            message = f"has the same number as {other}; give one of them another number"
            yield LintFinding(path=ticket.path, line=1, code="duplicate-id", message=message)


def _dependency_line(text: str, name: str) -> int:
    """The line of a dependency; for one of a range, the line where the dependencies begin."""
    _, lines = title_and_rest(read_markdown(text))
    under = sections(lines, NAMES, header=HEADER, nested=("done",)).get("dependencies")
    if under is None:
        return 1
    return next((line.number for line in under.lines if name in line.raw), under.number)


def _cycles(graph: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Cycles of names that wait for each other, from the first by name; if there are few, all of them."""
    left = {name: [one for one in others if one in graph] for name, others in graph.items()}
    for _ in range(MAX_RINGS):
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            ring = list(reversed(error.args[1][1:]))  # from what is waited for to what waits
            start = ring.index(min(ring))
            ring = ring[start:] + ring[:start]
            yield [*ring, ring[0]]
            left[ring[0]] = [one for one in left[ring[0]] if one != (ring[1] if len(ring) > 1 else ring[0])]
        else:
            return
