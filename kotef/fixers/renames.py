"""Fixer for a misspelt definition that the project's tests spell correctly."""

import ast
import builtins
import keyword
from collections.abc import Iterator

from kotef.fixers import standard_library
from kotef.fixers.identifiers import counted, identifiers, respell
from kotef.fixers.source import PythonText
from kotef.fixers.symbol_index import Project
from kotef.fixers.types import FixProposal
from kotef.source import Function, SourceEdit, bound_by


def definition(project: Project, old: str, new: str) -> Iterator[FixProposal]:
    """Rename a function, class, method, attribute or constant that tests know as `new`.

    Only if the name means one thing: one module or one class binds it, no test and no builtin type uses it, no string
    but those of `__all__` is it, and nothing is called `new` yet.
    """
    if not project.in_tests(new) or project.in_tests(old) or not _free(new) or old in standard_library.OF_EVERY_TYPE:
        return
    sources = [source for source in project.with_word(old) if project.editable(source.path)]
    if any(source.tree is None for source in sources) or _binders(project, new):
        return
    homes = _binders(project, old)
    if len(homes) != 1 or not isinstance(next(iter(homes)), ast.Module | ast.ClassDef):
        return
    edits = list[SourceEdit]()
    for source in sources:
        nodes = identifiers(source, old)
        found = respell(source, nodes, old, new)
        exported = list(_exported(source, old, new))
        if (nodes and not found) or _named_otherwise(source, old) or _quoted(source, old) != len(exported):
            return
        edits += [*found, *exported]
    path, line = _first_binding(project, old)
    yield FixProposal(
        tuple(edits), f"{path}:{line}: renamed {old!r} to {new!r}, as the tests spell it ({counted(edits)})"
    )


def parameter(project: Project, source: PythonText, function: Function, old: str, new: str) -> Iterator[FixProposal]:
    """Rename a parameter that tests pass as `new`: in the signature, in the body, and where it is passed by name."""
    if not project.editable(source.path) or not _free(new):
        return
    scopes = project.scopes(source)
    around = scopes.scope_of(function)
    callers = around.name if isinstance(around, ast.ClassDef) and function.name == "__init__" else function.name
    if new in scopes.bindings.get(function, {}) or _passed_in_tests(project, callers, old):
        return
    inside = [
        node
        for node in identifiers(source, old)
        if (isinstance(node, ast.arg) and scopes.parents[scopes.parents[node]] is function)
        or (isinstance(node, ast.Name) and _binder(scopes.chain(node), scopes.bindings, old) is function)
    ]
    edits = list(respell(source, inside, old, new))
    for other in project.with_word(old):
        if edits and project.editable(other.path):
            edits += respell(other, passing(other, callers, old), old, new)
    if edits:
        what = f"renamed the parameter {old!r} of {callers}() to {new!r}, as the tests pass it"
        yield FixProposal(tuple(edits), f"{source.path}:{function.lineno}: {what} ({counted(edits)})")


def _free(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and not hasattr(builtins, name)


def _binders(project: Project, name: str) -> set[ast.AST]:
    """The scopes that bind `name` in files that may be edited; for `self.name = …` the class."""
    found = set[ast.AST]()
    for source in project.with_word(name):
        if not project.editable(source.path):
            continue
        scopes = project.scopes(source)
        for node in source.nodes:
            if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store):
                method = scopes.method_of(node)
                found.add(method[0] if method else node)
            elif name in bound_by(node) and not isinstance(node, ast.Import | ast.ImportFrom):
                found.add(scopes.scope_of(node) if not isinstance(node, ast.arg) else node)
    return found


def _first_binding(project: Project, name: str) -> tuple[str, int]:
    return next(
        (source.path, getattr(node, "lineno", 1))
        for source in project.with_word(name)
        for node in source.nodes
        if (name in bound_by(node) and not isinstance(node, ast.Import | ast.ImportFrom))
        or (isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store))
    )


def _named_otherwise(source: PythonText, name: str) -> bool:
    """Whether `global`, `nonlocal` or a dotted import spells the name, which a rename of nodes would miss."""
    return any(
        (isinstance(node, ast.Global | ast.Nonlocal) and name in node.names)
        or (isinstance(node, ast.alias) and name in node.name.split(".")[1:])
        or (isinstance(node, ast.ImportFrom) and name in (node.module or "").split("."))
        for node in source.nodes
    )


def _quoted(source: PythonText, name: str) -> int:
    """How many strings are the name: `__all__`, but also `getattr`."""
    return sum(isinstance(node, ast.Constant) and node.value == name for node in source.nodes)


def _exported(source: PythonText, old: str, new: str) -> Iterator[SourceEdit]:
    """The name in `__all__`."""
    for node in source.nodes:
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "__all__" for to in node.targets):
            for child in ast.walk(node.value):
                if isinstance(child, ast.Constant) and child.value == old:
                    start, end = source.span(child)
                    yield SourceEdit(source.path, start, end, source.text[start:end].replace(old, new))


def _binder(chain: list[ast.AST], bindings: dict[ast.AST, dict[str, int]], name: str) -> ast.AST | None:
    """The innermost scope of a chain that binds a name."""
    return next((scope for scope in chain if name in bindings.get(scope, {})), None)


def passing(source: PythonText, function: str, name: str) -> list[ast.keyword]:
    """Where calls of a function, or of anything that has its name, pass `name=`."""
    return [
        keyword
        for node in source.nodes
        if isinstance(node, ast.Call) and called(node) == function
        for keyword in node.keywords
        if keyword.arg == name
    ]


def _passed_in_tests(project: Project, function: str, name: str) -> bool:
    return any(
        passing(source, function, name) for source in project.with_word(name) if not project.editable(source.path)
    )


def called(node: ast.Call) -> str:
    """The last name of what is called; empty for anything but a name or an attribute."""
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
