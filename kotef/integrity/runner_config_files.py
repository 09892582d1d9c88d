"""New files of a run that could change the result of other tests."""

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from kotef.files import matches_globs
from kotef.integrity.protected_files import is_configuration, is_test_code
from kotef.integrity.python_imports import IMPORT_ROOTS
from kotef.shell import judging_files

RUNNERS: Final = frozenset(
    {
        *(
            "pytest",
            "_pytest",
            "py",
            "pluggy",
            "iniconfig",
            "unittest",
            "unittest2",
            "doctest",
            "nose",
            "nose2",
            "trial",
        ),
        *("coverage", "xdist", "execnet", "hypothesis", "_hypothesis_pytestplugin", "behave", "stestr", "testtools"),
        *("tox", "nox", "mypy", "ruff", "flake8", "pylint", "astroid", "pyflakes", "pycodestyle", "pydocstyle", "mock"),
        *("black", "isort", "pyright", "bandit", "anyio", "exceptiongroup", "sitecustomize", "usercustomize", "pip"),
    }
)
"""Top-level modules that make or carry a verdict, as they are installed."""

_MODULE: Final = re.compile(r"(?P<name>\w+)(?:\.[\w-]+)?\.(?:py|pyc|so|pyd)|(?P<package>\w+)/__init__\.(?:py|pyc|so)")
_PATH: Final = re.compile(r"\bPYTHONPATH=([^\s;&|]+)")

_ABSENT: Final = re.compile(r"No module named ['\"]?(\w+)['\"]?(?![\w.])")

_PLUGIN: Final = re.compile(r"\[(?:pytest11|flake8\.\w+)\]")

_LOUD_WORDS: Final = re.compile(
    r"\bprocess\b|\brequire\s*\.\s*(?:cache|main|extensions)|\bglobal(?:This)?\b|\.prototype\b|__proto__|\beval\b"
    r"|\bFunction\s*\(|\bfunc\s+(?:TestMain|init)\b|\bos\.Exit\b|\bsyscall\b|\bunsafe\b|\bat_exit\b|\bexit!|\bKernel\b"
    r"|\b(?:RSpec|Minitest|ExUnit)\s*\.\s*(?:configure|after_run)|\b(?:class|module|instance)_eval\b|\bObjectSpace\b"
)
"""Outside Python: words with which a test file reaches the process, the globals or the runner it shares with others."""

_LOUD_MODULES: Final = RUNNERS - {"pytest", "unittest", "hypothesis", "mock", "anyio"} | {
    *("importlib", "builtins", "gc", "ctypes", "inspect", "atexit", "signal", "threading", "_thread", "runpy", "imp"),
    *("pkgutil", "marshal", "faulthandler", "code", "codeop", "site", "zipimport", "posix"),
}
_LOUD_NAMES: Final = frozenset(
    {"setattr", "delattr", "exec", "eval", "compile", "globals", "vars", "locals", "__import__", "__builtins__"}
)
_LOUD_ATTRIBUTES: Final = frozenset(
    {
        *("__dict__", "__class__", "__globals__", "__code__", "__bases__", "__subclasses__", "__mro__", "__setattr__"),
        *("__defaults__", "__kwdefaults__", "__closure__", "__wrapped__", "modules", "meta_path", "path_hooks"),
        *(
            "_exit",
            "abort",
            "kill",
            "fork",
            "settrace",
            "setprofile",
            "_getframe",
            "start",
            "chdir",
            "environ",
            "putenv",
        ),
        *("execv", "execve", "execl", "execvp", "register_assert_rewrite", "load_profile", "register_profile"),
    }
)
_LOUD_DEFINITIONS: Final = re.compile(r"pytest_\w+|load_tests|collect_ignore\w*|__getattr__|__tracebackhide__")


def steering_files(
    new: Iterable[tuple[str, str]],
    *,
    baseline: Collection[str],
    commands: Sequence[str],
    allow: Sequence[str],
    awaited: Sequence[str] = (),
    gone: Collection[str] = (),
) -> tuple[str, ...]:
    """Those of the new files, given as path and text, that could speak for the tests of the baseline; sorted.

    Configuration of runners and linters, `conftest.py`, modules that shadow the runner, what it imports, a test
    file or a module that is still there (not among those `gone`), what the scripts of the checks source or include
    (`awaited`, as globs), and test code that does more than define tests; never what a check command names itself,
    for the task may be to make it. Where there is one of these, other new test modules belong to it: they may need
    it and would be in the way without it. What `allow` names does not count.
    """
    roots = _import_roots(baseline, commands)
    asked_for = {path for command in commands for path in judging_files(command)}
    files = [(path, text) for path, text in new if path not in asked_for and not matches_globs(path, allow)]
    names = {
        imported_as(path) for path in baseline if path.endswith(".py") and (is_test_code(path) or path not in gone)
    }
    loud = {
        path
        for path, text in files
        if configures_runner(path, text)
        or (shadows(path, roots))
        or (imported_as(path) in names and path not in baseline)
        or matches_globs(path, awaited)
        or (is_test_code(path) and not is_quiet(path, text))
    }
    return tuple(sorted(loud | {path for path, _ in files if is_test_code(path, modules=True)})) if loud else ()


def configures_runner(path: str, text: str) -> bool:
    """Whether a file configures or starts a runner; entry points do where they name a plugin."""
    return is_configuration(path) and not (path.endswith("/entry_points.txt") and not _PLUGIN.search(text))


def imported_as(path: str) -> tuple[str, str]:
    """The directory from which Python imports a file, and the name under which; both empty when it does not.

    `helpers.py`, `helpers/__init__.py` and `helpers.so` beside each other are one name, and only one of them is found.
    """
    base, _, name = path.rpartition("/")
    match = _MODULE.fullmatch(name)
    if match is None:
        return "", ""
    return (base, match["name"]) if match["name"] != "__init__" else (base.rpartition("/")[0], base.rpartition("/")[2])


def shadowing_files(new: Iterable[str], *, baseline: Collection[str], commands: Sequence[str]) -> tuple[str, ...]:
    """New files that Python may find where the runner, one of its parts, or the standard library should be."""
    roots = _import_roots(baseline, commands)
    return tuple(path for path in new if shadows(path, roots) and not is_configuration(path))


def shadows(path: str, roots: Collection[str]) -> bool:
    """Whether a file is found below one of these import roots in the place of the runner or the standard library."""
    base, name = imported_as(path)
    return base in roots and (name in RUNNERS or name in sys.stdlib_module_names)


def replaces_installed(
    new: Iterable[str],
    *,
    baseline: Collection[str],
    commands: Sequence[str],
    imported: Callable[[], Collection[str]],
    absent: Collection[str],
) -> tuple[str, ...]:
    """Those of the new files that Python finds where the tests of the baseline imported something installed.

    `imported` are the top-level modules those tests import, asked for where it matters; `absent` those that could not
    be imported: a test that fails for want of a module asks for it.
    """
    roots = _import_roots(baseline, commands)
    known = {name for path in baseline for name in _provided(path, roots)} | {""} | set(absent)
    found = {path: imported_as(path) for path in new if not is_test_code(path)}
    new_names = {path: name for path, (base, name) in found.items() if base in roots and name not in known}
    wanted = imported() if new_names else ()
    return tuple(path for path, name in new_names.items() if name in wanted)


def absent_modules(outputs: Iterable[str]) -> tuple[str, ...]:
    """Top-level modules that Python did not find, by its own words; sorted."""
    return tuple(sorted({name for output in outputs for name in _ABSENT.findall(output)}))


def top_imports(text: str) -> frozenset[str]:
    """Top-level modules a module imports, anywhere in it; none where it cannot be parsed."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return frozenset(name.partition(".")[0] for name in names)


def _provided(path: str, roots: Collection[str]) -> Iterator[str]:
    """Top-level names under which something of this file may be imported."""
    for root in roots:
        if not root or path.startswith(f"{root}/"):
            first, _, below = path[len(root) + 1 if root else 0 :].partition("/")
            yield first if below else first.partition(".")[0]


def is_quiet(path: str, text: str) -> bool:
    """Whether test code only defines tests, as far as reading it can show.

    Python that patches what it imports, reaches for the interpreter or does something on import is not quiet; what it
    does through the objects of the product while its own tests run is not seen.
    """
    if not path.endswith(".py"):
        return not _LOUD_WORDS.search(text)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    imported = set(_imported_names(tree))
    return all(map(_is_definition, tree.body)) and not any(_is_loud(node, imported) for node in ast.walk(tree))


def _import_roots(baseline: Collection[str], commands: Sequence[str]) -> frozenset[str]:
    """Directories a runner may put on the path: the usual ones, those of tests, and what PYTHONPATH names."""
    tests = {path.rpartition("/")[0] for path in baseline if is_test_code(path) and path.endswith(".py")}
    named = {
        part.strip("./'\"") for command in commands for value in _PATH.findall(command) for part in value.split(":")
    }
    return frozenset({*IMPORT_ROOTS, *tests, *named})


def _imported_names(tree: ast.Module) -> Iterator[str]:
    """Names bound by imports, and names bound to those."""
    known = {
        (alias.asname or alias.name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _root(node.value) in known and not isinstance(node.value, ast.Call):
            known |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    yield from known


def _is_definition(node: ast.stmt) -> bool:
    """Whether a statement of a module defines something, or chooses between definitions."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Pass():
            return True
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return not _LOUD_DEFINITIONS.fullmatch(name)
        case ast.Assign(targets=targets):
            return all(
                isinstance(target, ast.Name) and not _LOUD_DEFINITIONS.fullmatch(target.id) for target in targets
            )
        case ast.AnnAssign(target=ast.Name()) | ast.Expr(value=ast.Constant()):
            return True
        case ast.If(body=body, orelse=others):
            return all(map(_is_definition, [*body, *others])) or ast.unparse(node.test) == "__name__ == '__main__'"
        case ast.Try(body=body, handlers=handlers, orelse=others, finalbody=final):
            inner = [statement for handler in handlers for statement in handler.body]
            return all(map(_is_definition, [*body, *inner, *others, *final]))
        case _:
            return False


def _is_loud(node: ast.AST, imported: Collection[str]) -> bool:
    """Whether a node reaches beyond the test it stands in."""
    match node:
        case ast.Import(names=names):
            return any(alias.name.split(".")[0] in _LOUD_MODULES for alias in names)
        case ast.ImportFrom(module=module, names=names):
            loud = any(alias.name in _LOUD_ATTRIBUTES or alias.name == "*" for alias in names)
            return loud or (module or "").split(".")[0] in _LOUD_MODULES
        case ast.Name(id=name):
            return name in _LOUD_NAMES or name == "pytest_plugins"
        case ast.Attribute(attr=name, ctx=context):
            stored = not isinstance(context, ast.Load) and (_root(node) in imported or not _root(node))
            return stored or name in _LOUD_ATTRIBUTES or (name == "path" and _root(node) == "sys")
        case ast.Subscript(ctx=ast.Store() | ast.Del()):
            return _root(node) in imported
        case ast.Global():
            return True
        case _:
            return False


def _root(node: ast.AST) -> str:
    """The name an attribute or item chain starts from; empty when it starts from something else."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
