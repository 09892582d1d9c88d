"""Resolution of names in a Python module, as far as imports and plain assignments allow."""

import ast
from typing import Final

_MAX_PARTS: Final = 64


class Names:
    """The dotted origin of names: after `import os as o`, `o._exit` is `os._exit`."""

    def __init__(self, tree: ast.Module) -> None:
        self._origins: dict[str, str] = {}
        self._modules: set[str] = set()
        assigned: list[ast.Assign] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    self._bind(bound, alias.name if alias.asname else bound)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    self._bind(alias.asname or alias.name, f"{node.module}.{alias.name}")
            elif isinstance(node, ast.Assign):
                assigned.append(node)
        for assignment in assigned * 2:  # names of names
            self._assigned(assignment)

    def of(self, node: ast.AST) -> str:
        """The dotted origin of an expression, `__import__` and `getattr` of a plain text included; else empty."""
        match node:
            case ast.Name(id=name):
                return self._origins.get(name, name)
            case ast.Attribute(value=value, attr=attribute):
                base = self.of(value)
                return f"{base}.{attribute}" if base else f"….{attribute}"
            case ast.Call(func=function, args=[argument, *_]) if self.of(function) in {
                "__import__",
                "importlib.import_module",
                "importlib.__import__",
            }:
                return folded(argument) or ""
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, argument, *_]) if folded(argument):
                return f"{self.of(owner)}.{folded(argument)}"
            case ast.Subscript(value=value, slice=key) if self.of(value) == "sys.modules" and folded(key):
                return folded(key) or ""
            case ast.Subscript(value=value):
                return self.of(value)
            case ast.Call(func=ast.Name(id="vars"), args=[owner]):
                return f"{self.of(owner)}.__dict__"
            case _:
                return ""

    def is_module(self, top: str) -> bool:
        """Whether the first part of an origin was imported, not only spelled like a module."""
        return top in self._modules

    def _bind(self, name: str, origin: str) -> None:
        self._origins[name] = origin
        self._modules.add(origin.partition(".")[0])

    def _assigned(self, node: ast.Assign) -> None:
        origin = self.of(node.value)
        top = origin.partition(".")[0]
        loads = isinstance(node.value, ast.Call)
        if (top in self._modules or (loads and origin)) and origin.count(".") < _MAX_PARTS:
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id != origin:
                    self._bind(target.id, origin)


def folded(node: ast.AST | None) -> str | None:
    """The text of an expression made of plain texts alone; None when it is more than that."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = folded(left), folded(right)
            return None if first is None or second is None else first + second
        case ast.JoinedStr(values=values):
            parts = [folded(part.value if isinstance(part, ast.FormattedValue) else part) for part in values]
            return None if None in parts else "".join(part or "" for part in parts)
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(glue)), attr="join"),
            args=[ast.List() | ast.Tuple() as parts],
        ):
            pieces = [folded(part) for part in parts.elts]
            return None if None in pieces else glue.join(piece or "" for piece in pieces)
        case _:
            return None
