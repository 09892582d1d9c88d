"""Scope analysis: names that a line of code can see, and names that nothing binds."""

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

Scope = ast.AST
"""A module, function, lambda, class or comprehension."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.Module, *_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)
_BUILTINS = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__path__", "__spec__", "__class__"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Scopes:
    """The scopes of one file that compiles, and what each binds.

    Source of the rules: the Python reference, "Naming and binding"; `exec`, star imports and assignments to
    `globals()` are not seen.
    """

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        """`nodes` are all of the module's tree, as `ast.walk` gives them."""
        self._nodes = nodes
        self.parents = parents_of(nodes)

    def scope_of(self, node: ast.AST) -> Scope:
        """The scope a node is evaluated in: decorators, defaults, bases and annotations belong to the one around."""
        below, child, parent = None, node, self.parents.get(node)
        while parent is not None:
            if isinstance(parent, _SCOPES) and _inside(parent, child, below):
                return parent
            below, child, parent = child, parent, self.parents.get(parent)
        return child

    def chain(self, node: ast.AST) -> list[Scope]:
        """The scopes a name in `node` is looked up in, innermost first: a class only when it is the innermost."""
        chain = [self.scope_of(node)]
        while not isinstance(chain[-1], ast.Module) and chain[-1] in self.parents:
            chain.append(self.scope_of(chain[-1]))
        seen = [scope for scope in chain[1:] if not isinstance(scope, ast.ClassDef)]
        return [chain[0], *seen]

    @cached_property
    def bindings(self) -> dict[Scope, dict[str, int]]:
        """Per scope, its names and the first line that binds each; 0 for parameters and loop variables inside `[…]`."""
        found: dict[Scope, dict[str, int]] = defaultdict(dict)
        declared = self._declared()
        for node in self._nodes:
            for name in bound_by(node):
                scope = self._home(node)
                if name in declared.get(scope, ()):
                    scope = self._nodes[0]
                at_entry = isinstance(node, ast.arg) or isinstance(scope, _COMPREHENSIONS)
                line = 0 if at_entry else getattr(node, "lineno", 0)
                found[scope][name] = min(line, found[scope].get(name, line))
        return found

    def is_bound(self, name: str, node: ast.AST) -> bool:
        """Whether anything binds `name` where `node` looks it up, no matter when."""
        return name in _BUILTINS or self.binds(name, node)

    def binds(self, name: str, node: ast.AST) -> bool:
        """Whether the file itself binds `name` where `node` looks it up."""
        return any(name in self.bindings.get(scope, ()) for scope in self.chain(node))

    def visible(self, node: ast.AST) -> set[str]:
        """Names bound by the time `node` runs: in its own function or module only what lines above it bind."""
        names, line, own = set(_BUILTINS), getattr(node, "lineno", 0), True
        for scope in self.chain(node):
            names |= {name for name, at in self.bindings.get(scope, {}).items() if not own or at < line}
            own = own and isinstance(scope, _COMPREHENSIONS)
        return {name for name in names if not name.startswith("__")}

    def unbound(self, name: str) -> list[ast.Name]:
        """Every place that reads `name` where nothing binds it."""
        return [
            node
            for node in self._nodes
            if isinstance(node, ast.Name)
            and node.id == name
            and not isinstance(node.ctx, ast.Store)
            and not self.is_bound(name, node)
        ]

    def method_of(self, node: ast.AST) -> tuple[ast.ClassDef, Function] | None:
        """The class and its method around a node, functions within the method looked through; None outside of one."""
        at: ast.AST | None = node
        while at is not None:
            around = self.parents.get(at)
            if isinstance(around, ast.ClassDef) and isinstance(at, Function) and at in around.body:
                return around, at
            if isinstance(around, ast.ClassDef):
                return None
            at = around
        return None

    def _home(self, node: ast.AST) -> Scope:
        """The scope a binding goes to."""
        if isinstance(node, ast.arg):
            return self.parents[self.parents[node]]
        scope = self.scope_of(node)
        if isinstance(self.parents.get(node), ast.NamedExpr):
            while isinstance(scope, _COMPREHENSIONS):
                scope = self.scope_of(scope)
        return scope

    def _declared(self) -> dict[Scope, set[str]]:
        """Names that `global` takes out of a scope."""
        found: dict[Scope, set[str]] = defaultdict(set)
        for node in self._nodes:
            if isinstance(node, ast.Global):
                found[self.scope_of(node)].update(node.names)
        return found


def parents_of(nodes: Iterable[ast.AST]) -> dict[ast.AST, ast.AST]:
    """Each child of the nodes with its parent."""
    return {child: node for node in nodes for child in ast.iter_child_nodes(node)}


def bound_by(node: ast.AST) -> tuple[str, ...]:
    """The names a node itself binds, children not included."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return (name,)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Import(names=names):
            return tuple(alias.asname or alias.name.partition(".")[0] for alias in names)
        case ast.ImportFrom(names=names):
            return tuple(alias.asname or alias.name for alias in names)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return (name,)
        case ast.MatchMapping(rest=str(name)):
            return (name,)
        case _ if type(node).__name__ in {"TypeVar", "ParamSpec", "TypeVarTuple"}:  # nodes since Python 3.12
            return (str(getattr(node, "name", "")),)
        case _:
            return ()


def _inside(scope: ast.AST, child: ast.AST, below: ast.AST | None) -> bool:
    """Whether a child of a scope's node is evaluated in that scope and not around it."""
    match scope:
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body) | ast.ClassDef(body=body):
            return child in body or type(child).__name__ in {"TypeVar", "ParamSpec", "TypeVarTuple"}
        case ast.Lambda(body=expression):
            return child is expression
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            first = scope.generators[0]
            return not (child is first and below is first.iter)
        case _:
            return True
