"""Imports point one way. Moving a name in this table is a design decision."""

import ast
from functools import cache
from pathlib import Path

from support.source_trees import product_nodes, product_trees

ROOT = Path(__file__).parent.parent / "kotef"
LAYERS = [
    "__init__ errors lazy_exports stop_gate",
    "shell files redaction source",
    "git",
    "workspace",
    "sandbox",
    "classification",
    "failures",
    "integrity",
    "checks",
    "settings sdd importers context events",
    "state",
    "tools models mcp_client web",
    "deps coders middleware",
    "repair fixers",
    "extensions",
    "nodes",
    "graph",
    "runs replay report",
    "telemetry",
    "mcp_server",
    "cli studio api",
    "__main__",
]
RANK = {name: rank for rank, row in enumerate(LAYERS) for name in row.split()}
PURE = RANK["state"]
STANDARD_ONLY = ("classification/classifier.py", "classification/summarize.py", "classification/fingerprints.py")
FILES = sorted(ROOT.rglob("*.py"))


def _rank(path: Path) -> int:
    return RANK[path.relative_to(ROOT).parts[0].removesuffix(".py")]


@cache
def _imported(path: Path) -> list[str]:
    """Modules imported anywhere in the file, but those only a type checker sees."""
    names = []
    for node in product_nodes()[path]:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names.append(node.module or "")
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return names


def test_imports_point_down() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}, which is above it"
        for path in FILES
        for name in _imported(path)
        if name.startswith("kotef.") and RANK[name.split(".")[1]] > _rank(path)
        # the public names are imported when one of them is asked for
        if (path, name) != (ROOT / "__init__.py", "kotef.api")
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_below_the_state_knows_no_framework() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in FILES
        if _rank(path) <= PURE
        for name in _imported(path)
        if name.startswith(("lang", "openai"))
    ]
    assert not wrong, "\n".join(wrong)


def test_the_classifier_needs_the_standard_library_only() -> None:
    """Its modules, and every module of ours they import, can be copied into any job."""
    import sys

    seen: set[Path] = set()
    todo = [ROOT / name for name in STANDARD_ONLY]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in _imported(path):
            if name.startswith("kotef"):
                module = ROOT.parent / name.replace(".", "/")
                todo.append(module / "__init__.py" if module.is_dir() else module.with_suffix(".py"))
            else:
                assert name.split(".")[0] in sys.stdlib_module_names, f"{path.name} imports {name}"
    assert len(seen) >= len(STANDARD_ONLY)


def test_every_module_says_which_question_it_answers() -> None:
    for path in FILES:
        if path.name != "__init__.py":
            assert ast.get_docstring(product_trees()[path]), path
