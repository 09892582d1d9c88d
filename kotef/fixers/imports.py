"""Fixer for a missing import."""

import ast
import re
import sys
from collections.abc import Iterator

from kotef.fixers import standard_library
from kotef.fixers.complaints import Complaint
from kotef.fixers.identifiers import at_line
from kotef.fixers.import_placement import MissingImport, add
from kotef.fixers.misspellings import unbound_names
from kotef.fixers.source import PythonText
from kotef.fixers.symbol_index import Project
from kotef.fixers.types import FixProposal
from kotef.integrity import is_protected
from kotef.source import SourceEdit


def name_missing(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """A NameError for what the project imports elsewhere, defines once, or everybody imports from one place."""
    found = unbound_names(complaint, project)
    if found is None:
        return
    source, nodes = found
    used = _attributes_of(source, nodes)
    wanted = _as_elsewhere(project, source, nodes[0].id) or _own(project, source, nodes[0].id, used)
    wanted = wanted or _standard(nodes[0].id, used)
    if wanted:
        yield from _added(project, source, wanted, nodes[0].lineno, f"{nodes[0].id!r} is used but not imported")


def submodule_missing(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """An AttributeError for a module of a package that no one imported: `import urllib` and then `urllib.parse`."""
    match = re.match(r"module '([\w.]+)' has no attribute '(\w+)'", complaint.message)
    place = project.raised(complaint)
    if match is None or place is None:
        return
    source, line = place
    dotted = f"{match[1]}.{match[2]}"
    plain = any(
        isinstance(node, ast.Import) and not alias.asname and f"{alias.name}.".startswith(f"{match[1]}.")
        for node in source.nodes
        for alias in (node.names if isinstance(node, ast.Import) else ())
    )
    if match[1] in project.modules:
        known = [dotted] if dotted in project.modules else []
    else:
        known = [name for name in sorted(standard_library.MODULES) if f"{name}.".startswith(f"{dotted}.")]
    module = next(iter(known), "")
    if plain and module:
        yield from _added(project, source, MissingImport(module), line, f"{dotted} is used but not imported")


def moved(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """An ImportError for a name that one other module of the project defines.

    The import is pointed there; when it is a test that imports the name from the package around that module, the
    package imports it.
    """
    match = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", complaint.message)
    if match is None or complaint.where is None:
        return
    name, imported_path = match[1], project.modules.get(match[2])
    homes = project.definitions(name)
    module = project.module_name(homes[0]) if len(homes) == 1 else None
    if module is None or homes[0] in {imported_path, complaint.where.path}:
        return
    source = project.editable(complaint.where.path)
    package = project.editable(imported_path) if imported_path and imported_path.endswith("__init__.py") else None
    if any(one and _imports(project, homes[0], one.path) for one in (source, package)):
        return
    if source is not None:
        yield from _pointed(source, complaint.where.line, name, module)
        return
    if package and homes[0].startswith(package.path.removesuffix("__init__.py")):
        what = f"{match[2]} is asked for {name!r}, which {homes[0]} defines"
        yield from _added(project, package, _from(project, package, homes[0], module, name), 1, what)


def sibling(complaint: Complaint, project: Project) -> Iterator[FixProposal]:
    """A ModuleNotFoundError for a module that is beside the file in its package: Python 2 imported it so."""
    match = re.match(r"No module named '(\w+)'$", complaint.message)
    place = project.raised(complaint)
    if match is None or place is None or match[1] in sys.stdlib_module_names:
        return
    source, line = place
    package = project.package_of(source.path)
    beside = {f"{package}/{match[1]}.py", f"{package}/{match[1]}/__init__.py"}
    if not package or not beside & set(project.paths):
        return
    statements = [node for node in source.nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    for node in at_line(statements, line):
        start, end = source.span(node)
        match node:
            case ast.ImportFrom(module=name, level=0) if name == match[1]:
                at = start + source.text[start:end].index(match[1], len("from"))
                edit = SourceEdit(source.path, at, at, ".")
            case ast.Import(names=[ast.alias(name=name)]) if name == match[1]:
                edit = SourceEdit(source.path, start, start, "from . ")
            case _:
                continue
        what = f"{match[1]!r} is a module of the same package, imported as if it were top-level"
        yield FixProposal((edit,), f"{source.path}:{node.lineno}: {what}")


def _attributes_of(source: PythonText, nodes: list[ast.Name]) -> set[str] | None:
    """What the file asks the name for; None when it is also used alone, as no module is."""
    parents = {child: node for node in source.nodes for child in ast.iter_child_nodes(node) if child in nodes}
    found = [parent for node in nodes if isinstance(parent := parents.get(node), ast.Attribute)]
    return {parent.attr for parent in found} if len(found) == len(nodes) else None


def _as_elsewhere(project: Project, source: PythonText, name: str) -> MissingImport | None:
    """The import every other file that has the name at its top level gets it by."""
    ways = set[MissingImport]()
    for other in project.with_word(name):
        for node in other.tree.body if other.tree and other is not source else ():
            if isinstance(node, ast.Import):
                ways |= {_plain(one) for one in node.names if name == (one.asname or one.name.partition(".")[0])}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                renamed = {one for one in node.names if name == (one.asname or one.name)}
                ways |= {MissingImport(node.module, one.name, one.asname or "") for one in renamed}
    way = ways.pop() if len(ways) == 1 else None
    path = project.modules.get(way.module) if way else None
    circle = path is not None and (path == source.path or _imports(project, path, source.path))
    return way if way and not circle and not _only_in_tests(project, way) else None


def _plain(alias: ast.alias) -> MissingImport:
    return MissingImport(alias.name, alias=alias.asname or "")


def _only_in_tests(project: Project, wanted: MissingImport) -> bool:
    """Whether a module is a test's helper, which the code must not import."""
    path = project.modules.get(wanted.module)
    return wanted.module.partition(".")[0] in {"pytest", "unittest", "hypothesis"} or bool(path and is_protected(path))


def _own(project: Project, source: PythonText, name: str, used: set[str] | None) -> MissingImport | None:
    """A name that one module of the project defines, or a module whose names are used through it."""
    homes = [path for path in project.definitions(name) if path != source.path]
    if homes:
        module = project.module_name(homes[0]) if len(homes) == 1 and not name.startswith("_") else None
        circle = _imports(project, homes[0], source.path)
        return _from(project, source, homes[0], module, name) if module and not circle else None
    files = {path for dotted, path in project.modules.items() if f".{dotted}".endswith(f".{name}")}
    path = files.pop() if len(files) == 1 else ""
    if not path or used is None or not used <= {*project.exports(path), *project.children(path)}:
        return None
    if path == source.path or is_protected(path) or _imports(project, path, source.path):
        return None
    parent, _, last = (project.module_name(path) or "").rpartition(".")
    return MissingImport(parent, last) if parent else MissingImport(last)


def _imports(project: Project, path: str, other: str) -> bool:
    """Whether one file imports another at its top level: importing back would go round in a circle."""
    source = project.source(path)
    if source is None or source.tree is None:
        return False
    for node in source.tree.body:
        if isinstance(node, ast.ImportFrom) and project.target(source, node) == other:
            return True
        if isinstance(node, ast.Import) and any(project.modules.get(one.name) == other for one in node.names):
            return True
    return False


def _from(project: Project, source: PythonText, home: str, module: str, name: str) -> MissingImport:
    """Relative where the file's own imports are and the module is beside it; else absolute."""
    relative = any(isinstance(node, ast.ImportFrom) and node.level for node in source.nodes)
    package = project.package_of(source.path)
    if relative and package and package == project.package_of(home):
        return MissingImport(f".{module.rpartition('.')[2]}", name)
    return MissingImport(module, name)


def _standard(name: str, used: set[str] | None) -> MissingImport | None:
    """A module of the standard library that has everything it is asked for, or a name everybody knows."""
    if name == "datetime":
        through_module = used and used <= standard_library.members("datetime")
        return MissingImport("datetime") if through_module else MissingImport("datetime", "datetime")
    if used and name in standard_library.MODULES and used <= standard_library.members(name):
        return MissingImport(name)
    dotted = {
        module
        for module in standard_library.MODULES
        if used and any(module.startswith(f"{name}.{one}") for one in used)
    }
    if len(dotted) == 1 and name not in standard_library.MODULES:
        return MissingImport(dotted.pop())
    return MissingImport(standard_library.HOMES[name], name) if name in standard_library.HOMES else None


def _pointed(source: PythonText, line: int, name: str, module: str) -> Iterator[FixProposal]:
    """`from here import name` as `from there import name`, where that is all it imports."""
    for node in at_line((node for node in source.nodes if isinstance(node, ast.ImportFrom)), line):
        if [alias.name for alias in node.names] == [name]:
            start, _ = source.span(node)
            head = re.compile(r"from\s+([.\w]+)").match(source.text, start)
            if head:
                edit = SourceEdit(source.path, head.start(1), head.end(1), module)
                yield FixProposal((edit,), f"{source.path}:{node.lineno}: {name!r} is defined in {module}")


def _added(project: Project, source: PythonText, wanted: MissingImport, line: int, why: str) -> Iterator[FixProposal]:
    own = frozenset(name.partition(".")[0] for name in project.modules)
    edit = add(source, wanted, own)
    if edit:
        yield FixProposal((edit,), f"{source.path}:{line}: {why}: `{wanted.statement}`")
