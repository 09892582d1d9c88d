"""Fixer for syntax errors with only one possible fix."""

import ast
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from kotef.fixers import brackets, indentation, python2_syntax
from kotef.fixers.complaints import Complaint
from kotef.fixers.source import PythonText, shape, syntax_error
from kotef.fixers.symbol_index import Project
from kotef.fixers.types import FixProposal
from kotef.source import Scopes

MAX_STEPS: Final = 8
"""Slips of one file that are repaired one after the other."""


class SyntaxRepair(NamedTuple):
    """One way to repair, tried before those below it."""

    candidates: Callable[[PythonText, SyntaxError], Iterator[tuple[str, str]]]
    """From a file and its first error to texts that may be better, each with what was done."""
    moves: bool
    """Whether it may cut names in two or take them out of their scope: then no line it changes may read an unbound
    name."""


def compiles_again(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """One proposal for the whole file, or none: every step must be the only one of its kind that helps."""
    place = project.raised(complaint)
    error = syntax_error(place[0].text) if place else None
    if place is None or error is None:
        return
    source = place[0]
    text, line, done = source.text, error.lineno or 1, list[str]()
    for _ in range(MAX_STEPS):
        step = _step(PythonText(source.path, text), error)
        if step is None:
            return
        text, what = step
        done.append(what)
        error = syntax_error(text)
        if error is None:
            yield FixProposal(source.rewritten(text), f"{source.path}:{line}: {'; '.join(done)}")
            return


def _step(source: PythonText, error: SyntaxError) -> tuple[str, str] | None:
    """The one text of the first repair that compiles, or else gets furthest; None when there are two, or none."""
    here = _reached(source, error)
    for repair in REPAIRS:
        whole: dict[object, tuple[str, str]] = {}
        further: dict[tuple[int, int, int], dict[str, str]] = {}
        for text, what in repair.candidates(source, error):
            candidate, remaining = PythonText(source.path, text), syntax_error(text)
            if remaining is None:
                if not (repair.moves and _strays(source, candidate)):
                    whole.setdefault(shape(text), (text, what))
            elif repair.moves and _cut(error, remaining):
                continue
            elif (reached := _reached(candidate, remaining)) > here:
                further.setdefault(reached, {})[text] = what
        found = list(whole.values()) or list(further[max(further)].items() if further else ())
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _reached(source: PythonText, error: SyntaxError) -> tuple[int, int, int]:
    """How far Python reads: brackets are matched first, so one less that is wrong is further than any line."""
    opened, wrong = source.brackets
    return -len(opened) - wrong, error.lineno or 0, error.offset or 0


def _cut(error: SyntaxError, remaining: SyntaxError) -> bool:
    """Whether a step made a wrong indentation of what was none: it cut a statement in two."""
    return isinstance(remaining, IndentationError) and not isinstance(error, IndentationError | TabError)


def _strays(source: PythonText, candidate: PythonText) -> bool:
    """Whether a changed line reads a name that nothing binds; star imports may bind any."""
    scopes = Scopes(candidate.nodes)
    changed = {
        number for number, (old, new) in enumerate(zip(source.lines, candidate.lines, strict=False), 1) if old != new
    }
    names = [node for node in candidate.nodes if isinstance(node, ast.Name) and node.lineno in changed]
    stars = any(isinstance(node, ast.alias) and node.name == "*" for node in candidate.nodes)
    return not stars and any(not scopes.is_bound(node.id, node) for node in names)


def _leftovers(source: PythonText, error: SyntaxError) -> Iterator[tuple[str, str]]:  # noqa: ARG001 - the whole file is read
    text, found = python2_syntax.rewritten(source.text)
    if found:
        yield text, f"Python 2: {', '.join(found)}"


def _colon(source: PythonText, error: SyntaxError) -> Iterator[tuple[str, str]]:
    """A `:` at the end of the header, or where the error is."""
    line = error.lineno or 0
    if not 0 < line <= len(source.lines) or not brackets.HEADER.match(source.masked, source.starts[line - 1]):
        return
    start, end = source.starts[line - 1], source.starts[line]
    places = [start + len(source.masked[start:end].rstrip())]
    if source.brackets == ([], 0):
        places.append(start + len(source.masked[start : start + max(0, (error.offset or 1) - 1)].rstrip()))
    for at in dict.fromkeys(places):
        if source.masked[at - 1] != ":":
            yield source.text[:at] + ":" + source.text[at:], "a colon was missing"


REPAIRS: Final = (
    SyntaxRepair(_leftovers, moves=False),
    SyntaxRepair(_colon, moves=False),
    SyntaxRepair(brackets.candidates, moves=True),
    SyntaxRepair(indentation.candidates, moves=True),
)
"""The first that helps is believed; what no one writes by accident comes first."""
