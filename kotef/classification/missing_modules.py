"""Missing modules: one to install, or one that the project itself should contain."""

import re
from typing import Final

from kotef.classification.command_output import Run
from kotef.classification.kinds import FailureKind

MISSING_MODULE: Final = re.compile(
    r"(?:No module named |Cannot find (?:module|package) |Failed to resolve import |Can't resolve "
    r"|cannot load such file -- )"
    r"['\"]?(?P<module>[^'\"\s]+)"
)


def missing_module(run: Run, error: str) -> tuple[FailureKind, str] | None:
    """A module that is not installed, unless it is the project's own, which the task may have to write."""
    match = MISSING_MODULE.search(error)
    go = "no required module provides" in run.output.text
    if match is None:
        return ("tooling_error", "missing_module") if go else None
    return None if is_own(match["module"], run) else ("tooling_error", "missing_module")


OWN_ROOTS: Final = frozenset({"tests", "test", "src", "app", "lib", "conftest", "helpers", "spec"})


def is_own(module: str, run: Run) -> bool:
    """Whether a module is the project's: relative, a usual directory, or seen as one in the paths of this run."""
    if module.startswith((".", "/", "@/", "~/", "src/")):
        return True
    root, dotted, _ = module.partition(".")
    if root in OWN_ROOTS or (dotted and "/" not in module and not module.endswith(".js")):
        return True  # Python names a submodule only when the package that should hold it was found
    root = root.partition("/")[0]
    seen = re.compile(
        rf"(?:^|[\s\"'(/]){re.escape(root)}(?:/[\w./-]{{0,200}})?\.(?:py|js|ts|rb)\b|[ =]{re.escape(root)}/"
    )
    return any(
        seen.search(line) for line in (run.command, *run.output.lines[:2000]) if root in line and not _library(line)
    )


def _library(line: str) -> bool:
    return any(part in line for part in ("site-packages", "node_modules", "/lib/python", "dist-packages"))
