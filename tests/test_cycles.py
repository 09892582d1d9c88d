"""No module imports itself by way of others; a pair that does so within a function is listed with its reason."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from support.source_trees import product_trees

ROOT = Path(__file__).parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "kotef").rglob("*.py"))
}
BACKWARDS = {
    ("kotef.models.factory", "kotef.models.openai"): "the factory makes the class that takes its constants from it",
}
"""Imports against the direction, each inside a function."""


def _is_for_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def _imports(node: ast.AST) -> Iterator[str]:
    """Modules that are imported when the program runs, wherever the import stands."""
    for child in ast.iter_child_nodes(node):
        if _is_for_checkers(child):
            continue
        if isinstance(child, ast.ImportFrom) and child.module:
            for alias in child.names:
                yield _home(child.module, alias.name)
        elif isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        yield from _imports(child)


def _home(module: str, name: str) -> str:
    """The module that an import loads: behind a door, the one that holds the name."""
    if f"{module}.{name}" in MODULES:
        return f"{module}.{name}"
    return EXPORTS.get((module, name), module)


def _exports() -> dict[tuple[str, str], str]:
    found = {}
    for package, path in MODULES.items():
        if path.name != "__init__.py" or "lazy_exports(" not in (text := path.read_text("utf-8")):
            continue
        table = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Dict))
        for module, names in ast.literal_eval(table).items():
            found.update(dict.fromkeys(((package, name) for name in names.split()), f"{package}.{module}"))
    return found


EXPORTS = _exports()


def _graph() -> dict[str, set[str]]:
    return {
        module: {name for name in _imports(product_trees()[path]) if name in MODULES and name != module}
        for module, path in MODULES.items()
        if module != "kotef"
    }


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = _graph()
    for here, there in BACKWARDS:
        assert there in graph[here], "an exception that is not needed"
        graph[here].discard(there)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" imports ".join(reversed(error.args[1]))) from None
