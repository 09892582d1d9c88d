"""The syntax trees of the product, parsed once in a process for all tests that read its source."""

import ast
import gc
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent.parent / "kotef"


@cache
def product_trees() -> Mapping[Path, ast.Module]:
    """Absolute path → tree of each module of the product, in the order of their paths.

    They stay until the process ends; the garbage collector is kept from looking through them in the tests that follow.
    """
    gc.disable()
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
    gc.freeze()
    gc.enable()
    return trees


@cache
def product_nodes() -> Mapping[Path, tuple[ast.AST, ...]]:
    """Absolute path → every node of the module, as `ast.walk` yields them."""
    gc.disable()
    nodes = {path: tuple(ast.walk(tree)) for path, tree in product_trees().items()}
    gc.freeze()
    gc.enable()
    return nodes
