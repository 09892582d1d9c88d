"""Fixer for Python 2 leftovers in a file that Python 3 compiles."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from kotef.fixers.complaints import Complaint
from kotef.fixers.identifiers import at_line, counted, identifiers, respell
from kotef.fixers.misspellings import unbound_names
from kotef.fixers.source import PythonText
from kotef.fixers.symbol_index import Project
from kotef.fixers.types import FixProposal
from kotef.source import SourceEdit, parents_of

NAMES: Final = {
    "xrange": "range",
    "raw_input": "input",
    "unicode": "str",
    "basestring": "str",
    "unichr": "chr",
    "long": "int",
}
"""Builtins that Python 3 gave another name; `cmp`, `apply`, `file` and division need a person."""

ATTRIBUTES: Final = {
    "dict": {
        "iteritems": "items",
        "iterkeys": "keys",
        "itervalues": "values",
        "viewitems": "items",
        "viewkeys": "keys",
        "viewvalues": "values",
    },
    "os": {"getcwdu": "getcwd"},
    "sys": {"maxint": "maxsize"},
    "string": {"letters": "ascii_letters", "lowercase": "ascii_lowercase", "uppercase": "ascii_uppercase"},
    "itertools": {"izip_longest": "zip_longest", "ifilterfalse": "filterfalse"},
}
"""Type or module → what it had → what it has."""

MODULES: Final = {
    "ConfigParser": "configparser",
    "Queue": "queue",
    "SocketServer": "socketserver",
    "cPickle": "pickle",
    "cStringIO": "io",
    "StringIO": "io",
    "HTMLParser": "html.parser",
    "httplib": "http.client",
    "urlparse": "urllib.parse",
    "Tkinter": "tkinter",
    "copy_reg": "copyreg",
    "__builtin__": "builtins",
}
"""Modules that were renamed whole: what is imported from the old one is in the new one."""


def names(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """A NameError for a builtin of Python 2."""
    found = unbound_names(complaint, project)
    if found is None or found[1][0].id not in NAMES:
        return
    source, nodes = found
    old, new = nodes[0].id, NAMES[nodes[0].id]
    taken = any(project.scopes(source).binds(new, node) for node in nodes)
    edits = respell(source, nodes, old, new)
    if edits and not taken:
        yield _proposal(source, nodes[0].lineno, old, new, edits)


def attributes(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """An AttributeError for what a dictionary, an iterator or a module had in Python 2."""
    match = re.match(r"(?:module )?'(\w+)'(?: object)? has no attribute '(\w+)'", complaint.message)
    place = project.raised(complaint)
    if match is None or place is None:
        return
    source, line = place
    owner, old = match[1], match[2]
    nodes = [node for node in source.nodes if isinstance(node, ast.Attribute) and node.attr == old]
    raised = at_line(nodes, line)
    elsewhere = (node for other in project.with_word(old) for node in identifiers(other, old))
    if not raised or not all(isinstance(node, ast.Attribute) for node in elsewhere):  # the project has its own
        return
    if owner == "dict" and old == "has_key":
        yield from _has_key(source, raised[0].lineno)
    elif old == "next":
        yield from _next(source, raised)
    elif new := ATTRIBUTES.get(owner, {}).get(old):
        yield _proposal(source, raised[0].lineno, old, new, respell(source, nodes, old, new))


def modules(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """A ModuleNotFoundError for a module that Python 3 renamed; the name it is used by stays."""
    match = re.match(r"No module named '(\w+)'$", complaint.message)
    place = project.raised(complaint)
    if match is None or place is None or match[1] not in MODULES:
        return
    source, line = place
    old, new = match[1], MODULES[match[1]]
    statements = [node for node in source.nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    for node in at_line(statements, line):
        start, _ = source.span(node)
        if isinstance(node, ast.ImportFrom) and node.module == old and not node.level:
            at = source.text.index(old, start + len("from"))
            yield _proposal(source, node.lineno, old, new, (SourceEdit(source.path, at, at + len(old), new),))
        for alias in node.names if isinstance(node, ast.Import) else ():
            if alias.name == old:
                at = source.span(alias)[0]
                text = new if alias.asname else f"{new} as {old}"
                yield _proposal(source, node.lineno, old, new, (SourceEdit(source.path, at, at + len(old), text),))


def _has_key(source: PythonText, line: int) -> Iterator[FixProposal]:
    """`d.has_key(k)` as `k in d`, in brackets wherever anything but a condition or a statement is around it."""
    parents = parents_of(source.nodes)
    edits = []
    for node in source.nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="has_key"), args=[key], keywords=[]):
                around = parents.get(node)
                operator, (start, end) = "in", source.span(node)
                if isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not):
                    operator, (start, end), around = "not in", source.span(around), parents.get(around)
                text = f"{_operand(source, key)} {operator} {source.segment(owner)}"
                bare = isinstance(around, ast.If | ast.While | ast.BoolOp | ast.Return | ast.Assign | ast.Expr)
                edits.append(SourceEdit(source.path, start, end, text if bare else f"({text})"))
    if edits and source.merged(edits):
        yield _proposal(source, line, "has_key()", "in", tuple(edits))


def _next(source: PythonText, raised: list[ast.Attribute]) -> Iterator[FixProposal]:
    """`iterator.next()` as `next(iterator)`."""
    edits = []
    for node in source.nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="next") as func, args=[], keywords=[]) if func in raised:
                start, end = source.span(node)
                edits.append(SourceEdit(source.path, start, end, f"next({source.segment(owner)})"))
    if edits and source.merged(edits):
        yield _proposal(source, raised[0].lineno, ".next()", "next()", tuple(edits))


def _operand(source: PythonText, node: ast.expr) -> str:
    """The text of an expression, in brackets if `in` binds tighter."""
    loose = isinstance(node, ast.BoolOp | ast.Compare | ast.IfExp | ast.Lambda | ast.NamedExpr)
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return f"({source.segment(node)})" if loose or negated else source.segment(node)


def _proposal(source: PythonText, line: int, old: str, new: str, edits: tuple[SourceEdit, ...]) -> FixProposal:
    return FixProposal(edits, f"{source.path}:{line}: {old} is Python 2; Python 3 has {new} ({counted(edits)})")
