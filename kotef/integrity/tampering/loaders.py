"""Detection of calls that run code from places where no reader would look for it."""

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from kotef.integrity.tampering.python_names import folded

_ARCHIVES: Final = (".zip", ".egg", ".whl", ".pyz")
_PATHS: Final = frozenset({"sys.path.insert", "sys.path.append", "sys.path.extend", "site.addsitedir", "zipimporter"})
_LOADERS: Final = frozenset({"SourceFileLoader", "SourcelessFileLoader", "spec_from_file_location", "spec_from_loader"})
_MODULES: Final = (".py", ".pyw", ".so", ".pyd")
_OBJECTS: Final = frozenset(
    {"pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.load", "marshal.loads", "dill.load", "dill.loads"}
)


def loads_unseen(name: str, call: ast.Call, *, on_import: bool) -> Iterator[str]:
    """What is odd about a call of the function that goes by this dotted name; `on_import`: importing comes to it."""
    last = name.rpartition(".")[2]
    if name in _PATHS or last in _PATHS:
        archives = [text for text in _texts(call.args) if text.endswith(_ARCHIVES)]
        yield from (f"imports from the archive `{text}`" for text in archives)
    elif last in _LOADERS:
        yield from (f"imports `{text}` as a module" for text in _files_loaded(call) if not text.endswith(_MODULES))
    elif name in _OBJECTS and on_import:
        yield f"`{name}` executes what it reads, while the module is imported"
    elif name == "object.__subclasses__":
        yield f"`{name}` accesses objects of the runner"


def _files_loaded(call: ast.Call) -> list[str]:
    """Names of files among the arguments of a loader."""
    places = [*call.args[1:], *(word.value for word in call.keywords if word.arg in {"path", "location"})]
    return [text for text in _texts(places) if "." in text.rpartition("/")[2].strip(".")]


def _texts(nodes: Iterable[ast.expr]) -> Iterator[str]:
    return (text for node in nodes for part in ast.walk(node) if (text := folded(part)))
