"""Fixer for a misspelt name that Python does not know."""

import ast
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from kotef.fixers import standard_library
from kotef.fixers.complaints import Complaint
from kotef.fixers.identifiers import Identifier, at_line, counted, identifiers, respell
from kotef.fixers.renames import definition
from kotef.fixers.similarity import MIN_LENGTH, closest, likeness
from kotef.fixers.source import PythonText
from kotef.fixers.symbol_index import Project, first_parameter
from kotef.fixers.types import FixProposal
from kotef.source import Scopes, SourceEdit

BUILTIN: Final = 0.85
"""Likeness from which a builtin may be meant: one letter too many or too few, none exchanged."""

_ATTRIBUTE = re.compile(
    r"(?:(?P<module>module) |type object )?'(?P<owner>[\w.]+)'(?: object)? has no attribute '(?P<name>\w+)'"
)


def unbound_names(complaint: Complaint, project: Project) -> tuple[PythonText, list[ast.Name]] | None:
    """The file and the places a NameError is about, the one that raised first; None when they cannot be determined.

    Without any place in the output it is the one file that may be edited and reads the name unbound.
    """
    match = re.match(r"name '(\w+)' is not defined", complaint.message)
    if match is None:
        return None
    paths = [complaint.where.path] if complaint.where else []
    if not complaint.frames:
        paths = [source.path for source in project.with_word(match[1])]
    sources = [source for path in paths if (source := project.editable(path))]
    found = [(source, nodes) for source in sources if (nodes := project.scopes(source).unbound(match[1]))]
    if len(found) != 1:
        return None
    source, nodes = found[0]
    if complaint.where is None:
        return source, nodes
    raised = at_line(nodes, complaint.where.line)
    return (source, [*raised, *(node for node in nodes if node not in raised)]) if raised else None


def names(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """A NameError: the closest name that is bound by then, at every place of the file that can see it."""
    found = unbound_names(complaint, project)
    if found is None:
        return
    source, nodes = found
    scopes, wrong = project.scopes(source), nodes[0].id
    visible = scopes.visible(nodes[0])
    own = {name for name in visible if scopes.binds(name, nodes[0]) and likeness(wrong, name)}
    right = closest(wrong, own or {name for name in visible if _slip_of_builtin(wrong, name)})
    if right is None:
        return
    edits = respell(source, [node for node in nodes if right in scopes.visible(node)], wrong, right)
    if edits:
        yield _respelt((source, nodes[0].lineno), wrong, right, edits, "the closest name in scope")


def _slip_of_builtin(wrong: str, right: str) -> bool:
    """Whether a builtin was meant; people name variables after builtins: `types`, `type_`, `item`, `form`."""
    if wrong.casefold() == right.casefold():
        return True
    if sorted(wrong) == sorted(right):
        return likeness(wrong, right) > 0
    return len(wrong) > MIN_LENGTH and likeness(wrong, right) >= BUILTIN and wrong != f"{right}s" and "_" not in wrong


def attributes(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """An AttributeError: the closest attribute of that class, type or module; or the definition is misspelt."""
    match = _ATTRIBUTE.match(complaint.message)
    if match is None:
        return
    owner, wrong = match["owner"], match["name"]
    offered = _of_module(owner, project) if match["module"] else _of_class(owner, project)
    right = closest(wrong, offered)
    if right is None:
        return
    if project.in_tests(wrong):
        yield from definition(project, right, wrong)
    place = project.raised(complaint)
    if place is None:
        return
    source, line = place
    scopes = project.scopes(source)
    nodes = [node for node in source.nodes if isinstance(node, ast.Attribute) and node.attr == wrong]
    raised = {_receiver(source, scopes, node) for node in at_line(nodes, line)}
    raised = {one for one in raised if one.cls == owner} or raised
    sites = nodes
    if wrong in standard_library.OF_EVERY_TYPE or _defined_anywhere(project, wrong):
        sites = [node for node in nodes if _receiver(source, scopes, node) in raised] if len(raised) == 1 else []
    edits = respell(source, sites, wrong, right)
    if raised and edits:
        yield _respelt((source, line), wrong, right, edits, f"the closest attribute of {owner}")


class _Receiver(NamedTuple):
    """What is in front of an attribute's dot."""

    code: str
    cls: str
    """The class around it if it is a method's own instance; else empty."""


def _receiver(source: PythonText, scopes: Scopes, node: ast.Attribute) -> _Receiver:
    code, method = source.segment(node.value), scopes.method_of(node)
    return _Receiver(code, method[0].name if method and first_parameter(method[1]) == code else "")


def _of_class(name: str, project: Project) -> set[str]:
    """Attributes of a class of the project or of a type of Python; nothing is close to those of None."""
    offered = project.attributes(name.rpartition(".")[2]) or standard_library.attributes(name)
    return {one for one in offered if not one.startswith("__")}


def _of_module(name: str, project: Project) -> set[str]:
    path = project.modules.get(name)
    offered = {*project.exports(path), *project.children(path)} if path else standard_library.members(name)
    return {one for one in offered if not one.startswith("__")}


def _defined_anywhere(project: Project, name: str) -> bool:
    return any(
        not isinstance(node, ast.Name | ast.Attribute) or isinstance(node.ctx, ast.Store)
        for source in project.with_word(name)
        for node in identifiers(source, name)
    )


def imported(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """An ImportError: the closest name of that module; or the definition is misspelt."""
    match = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", complaint.message)
    right = closest(match[1], _of_module(match[2], project)) if match else None
    if match is None or right is None:
        return
    wrong = match[1]
    if project.in_tests(wrong):
        yield from definition(project, right, wrong)
    place = project.raised(complaint)
    if place is None:
        return
    source, line = place
    statements = [node for node in source.nodes if isinstance(node, ast.ImportFrom)]
    aliases = [alias for node in at_line(statements, line) for alias in node.names if alias.name == wrong]
    sites: list[Identifier] = [*aliases]
    if aliases and not aliases[0].asname:
        sites += [node for node in identifiers(source, wrong) if isinstance(node, ast.Name)]
    edits = respell(source, sites, wrong, right)
    if aliases and edits:
        yield _respelt((source, aliases[0].lineno), wrong, right, edits, f"the closest name in {match[2]}")


def modules(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """A ModuleNotFoundError: the closest module of the project; any other may just not be installed."""
    match = re.match(r"No module named '([\w.]+)'", complaint.message)
    place = project.raised(complaint)
    if match is None or place is None:
        return
    source, line = place
    *parents, wrong = match[1].split(".")
    dotted = [name.split(".") for name in project.modules]
    siblings = {
        parts[len(parents)] for parts in dotted if parts[: len(parents)] == parents and len(parts) > len(parents)
    }
    right = closest(wrong, siblings)
    statements = [node for node in source.nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    if right is None:
        return
    edits = [
        SourceEdit(source.path, start, start + len(wrong), right)
        for node in at_line(statements, line)
        for start in _in_statement(source, node, match[1])
    ]
    if edits and all(isinstance(node, ast.Import) for node in at_line(statements, line)):
        uses = [
            node
            for node in identifiers(source, wrong)
            if (isinstance(node, ast.Name) and not parents)
            or (isinstance(node, ast.Attribute) and source.segment(node.value) == ".".join(parents))
        ]
        edits += respell(source, uses, wrong, right)
    if edits:
        where = "the closest module of the project"
        yield _respelt((source, line), wrong, right, tuple(dict.fromkeys(edits)), where)


def _in_statement(source: PythonText, node: ast.Import | ast.ImportFrom, dotted: str) -> Iterator[int]:
    """Where the last part of a dotted name is in an import statement."""
    wrong = dotted.rpartition(".")[2]
    if isinstance(node, ast.ImportFrom):
        start, _ = source.span(node)
        if match := re.compile(rf"from\s+[.\w]*?(?<!\w)({wrong})(?!\w)").match(source.text, start):
            yield match.start(1)
        return
    for alias in node.names:
        if f"{alias.name}.".startswith(f"{dotted}."):
            yield source.span(alias)[0] + len(dotted) - len(wrong)


def _respelt(
    place: tuple[PythonText, int], wrong: str, right: str, edits: tuple[SourceEdit, ...], why: str
) -> FixProposal:
    source, line = place
    return FixProposal(edits, f"{source.path}:{line}: {wrong!r} is misspelt; {right!r} is {why} ({counted(edits)})")
