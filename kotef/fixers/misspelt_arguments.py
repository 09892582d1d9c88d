"""Fixer for a misspelt key or keyword argument."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from kotef.fixers.complaints import Complaint
from kotef.fixers.identifiers import at_line, counted, respell
from kotef.fixers.renames import called, definition, parameter, passing
from kotef.fixers.similarity import closest
from kotef.fixers.source import PythonText
from kotef.fixers.symbol_index import Project, decorators, first_parameter
from kotef.fixers.types import FixProposal
from kotef.source import Function, SourceEdit

_LOOKUPS = frozenset({"get", "pop", "setdefault"})
_UNEXPECTED = re.compile(
    r"(?:[\w.<>]*?(?P<owner>\w+)\.)?(?P<function>\w+)\(\) got an unexpected keyword argument '(?P<name>\w+)'"
)


def keys(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """A KeyError for a key written in the code: the closest key that the code stores.

    Not when anything stores the key itself: then it is missing at run time, and its spelling is right.
    """
    match = re.fullmatch(r"(['\"])(\w[\w .-]*)\1", complaint.message)
    if match is None or complaint.where is None:
        return
    wrong, source = match[2], project.source(complaint.where.path)
    if source is None or any(node.value == wrong for other in project.with_word(wrong) for node in _stored(other)):
        return
    raised = [node for node in at_line(_looked_up(source), complaint.where.line) if node.value == wrong]
    if not raised:
        return
    if not project.editable(source.path):
        yield from _stored_key(project, wrong)
        return
    here = closest(wrong, {str(node.value) for node in _stored(source)})
    everywhere = (
        str(node.value) for path in project.paths if (other := project.source(path)) for node in _stored(other)
    )
    right = here or closest(wrong, everywhere)
    if right:
        edits = _respell_keys(source, _looked_up(source), wrong, right)
        what = f"no code stores the key {wrong!r}; {right!r} is the closest that is stored"
        yield from _proposed(edits, source.path, raised[0].lineno, what)


def _stored_key(project: Project, wanted: str) -> Iterator[FixProposal]:
    """A test asks for a key: the closest one that only the project spells, respelt wherever it stands."""
    sources = [source for path in project.paths if (source := project.editable(path))]
    found = closest(wanted, {str(node.value) for source in sources for node in _stored(source)})
    if found is None or project.in_tests(found):
        return
    homes = [(source, [*_stored(source), *_looked_up(source)]) for source in sources]
    edits = [edit for source, nodes in homes for edit in _respell_keys(source, nodes, found, wanted)]
    first = next((source, node) for source, nodes in homes for node in nodes if node.value == found)
    what = f"renamed the key {found!r} to {wanted!r}, as the tests spell it"
    yield from _proposed(edits, first[0].path, first[1].lineno, what)


def _stored(source: PythonText) -> list[ast.Constant]:
    """String keys of dictionaries and of assignments to an item."""
    found: list[ast.expr | None] = []
    for node in source.nodes:
        match node:
            case ast.Dict(keys=written):
                found += written
            case ast.Subscript(slice=key, ctx=ast.Store()):
                found.append(key)
            case ast.Call(func=ast.Attribute(attr="setdefault"), args=[key, *_]):
                found.append(key)
    return [node for node in found if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _looked_up(source: PythonText) -> list[ast.Constant]:
    """String keys that are read."""
    found: list[ast.expr] = []
    for node in source.nodes:
        match node:
            case ast.Subscript(slice=key, ctx=ast.Load() | ast.Del()):
                found.append(key)
            case ast.Call(func=ast.Attribute(attr=name), args=[key, *_]) if name in _LOOKUPS:
                found.append(key)
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()]):
                found.append(key)
    return [node for node in found if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _respell_keys(source: PythonText, nodes: Iterable[ast.Constant], old: str, new: str) -> list[SourceEdit]:
    """Only plain literals: the text between the quotes must be the key."""
    edits = []
    for node in nodes:
        start, end = source.span(node)
        if node.value == old and source.text[start:end].strip("'\"") == old:
            edits.append(SourceEdit(source.path, start, end, source.text[start:end].replace(old, new)))
    return list(dict.fromkeys(edits))


def keywords(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """A TypeError for an unexpected keyword: the closest parameter the call does not pass yet.

    When a test passes it, the parameter (or the field of the dataclass) is the one that is misspelt.
    """
    match = _UNEXPECTED.match(complaint.message)
    source = project.source(complaint.where.path) if complaint.where else None
    if match is None or source is None or complaint.where is None:
        return
    name, wrong = match["function"], match["name"]
    if name == "__init__":
        name = match["owner"] or ""
    raised = [
        node
        for node in at_line((node for node in source.nodes if isinstance(node, ast.Call)), complaint.where.line)
        if called(node) == name and any(key.arg == wrong for key in node.keywords)
    ]
    callee = _callee(project, match["owner"] or "", match["function"])
    if not raised or callee is None:
        return
    parameters, rename = callee
    right = closest(wrong, parameters - {key.arg for key in raised[0].keywords if key.arg})
    if right is None:
        return
    if not project.editable(source.path):
        yield from rename(right, wrong)
        return
    files = [other for other in project.with_word(wrong) if project.editable(other.path)]
    edits = [edit for other in files for edit in respell(other, passing(other, name, wrong), wrong, right)]
    what = f"{name}() has no parameter {wrong!r}; {right!r} is the closest"
    yield from _proposed(edits, source.path, raised[0].lineno, what)


Rename = Callable[[str, str], Iterator[FixProposal]]
"""From the parameter's old name and the new one to the edits of its definition."""


def _callee(project: Project, owner: str, function: str) -> tuple[set[str], Rename] | None:
    """What can be passed by name to the one function of that name, and how to rename it; None when in doubt."""
    found = [
        (source, node)
        for source in project.with_word(function)
        for node in source.nodes
        if isinstance(node, Function)
        and node.name == function
        and (not owner or _owner(project, source, node) == owner)
    ]
    if len(found) == 1:
        source, node = found[0]
        names = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
        me = {first_parameter(node)} if _owner(project, source, node) else set()
        return names - me, partial(parameter, project, source, node)
    classes = project.classes(owner) if function == "__init__" and not found else []
    if len(classes) != 1 or "dataclass" not in decorators(classes[0][1]):
        return None
    fields = [node.target for node in classes[0][1].body if isinstance(node, ast.AnnAssign)]
    return {field.id for field in fields if isinstance(field, ast.Name)}, partial(definition, project)


def _owner(project: Project, source: PythonText, node: Function) -> str:
    """The class of a method; empty for a function."""
    around = project.scopes(source).scope_of(node)
    return around.name if isinstance(around, ast.ClassDef) else ""


def _proposed(edits: Iterable[SourceEdit], path: str, line: int, what: str) -> Iterator[FixProposal]:
    edits = tuple(edits)
    if edits:
        yield FixProposal(edits, f"{path}:{line}: {what} ({counted(edits)})")
