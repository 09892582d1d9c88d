"""Maven Surefire and Failsafe, and Gradle: the XML that they write below their build folders anyway."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kotef.checks.model import TestStatus
from kotef.checks.reports import MAX_REPORT, junit_root, status_of, worse
from kotef.checks.runners.records import name_part
from kotef.checks.runners.row import Leavings, Runner, Statuses
from kotef.workspace.safe_open import parent_within, read_within, regular, walk_within

_BUILDS: Final = frozenset({"mvn", "mvnw", "mvnd", "gradle", "gradlew"})
_REPORTS: Final = re.compile(r"(?:(?P<module>.*)/)?(?:target/(?:surefire|failsafe)-reports|build/test-results/[^/]+)")
_PASSED_OVER: Final = frozenset({".git", ".gradle", ".idea", ".m2", "node_modules", "src", "classes", "test-classes"})
MAX_FOLDERS: Final = 20_000
MAX_ENTRIES: Final = 20_000
_SLACK: Final = 1.0
"""Seconds: file systems keep times less exactly than the clock."""


def jvm_report(left: Leavings) -> Statuses | None:
    """What the XML files say that were written since the command began; None where there is none, or one is damaged."""
    if not _BUILDS.intersection(left.command.asked.tools) and "BUILD " not in left.stdout:
        return None
    root, budget = left.command.root, MAX_REPORT
    tests: Statuses = {}
    for path, module in _fresh(root, left.started - _SLACK):
        try:
            xml = read_within(root, path, largest=budget)
        except OSError:
            return None
        budget -= len(xml)
        cases = junit_root(xml)
        if cases is None:
            return None
        for case in cases.iter("testcase"):
            test = _id(case.get("classname") or "", case.get("name") or "", module, root)
            status: TestStatus = status_of((child.tag, child.get("type") or "") for child in case)
            tests[test] = worse(tests[test], status) if test in tests else status
    return tests or None


def _fresh(root: Path, since: float) -> Iterator[tuple[str, str]]:
    """Report files that are new, and the module each is of, both from the root."""
    for number, folder in enumerate(walk_within(root, most=MAX_ENTRIES)):
        if number > MAX_FOLDERS:
            return
        folder.folders[:] = [name for name in folder.folders if name not in _PASSED_OVER]
        found = _REPORTS.fullmatch(folder.path)
        if not found:
            continue
        for name in folder.others:
            path = f"{folder.path}/{name}"
            if name.startswith("TEST-") and name.endswith(".xml") and _changed(root, path) >= since:
                yield path, found["module"] or ""


def _changed(root: Path, path: str) -> float:
    try:
        with parent_within(root, path) as (folder, name):
            facts = regular(name, folder)
            return facts.st_mtime if facts else 0.0
    except OSError:
        return 0.0


def _id(classname: str, name: str, module: str, root: Path) -> str:
    """The file of the class, where it is at the usual place; the name without `()` that some versions write."""
    outer = classname.partition("$")[0]
    inner = classname[len(outer) :].strip("$").split("$") if "$" in classname else []
    for language, ending in (("java", "java"), ("kotlin", "kt"), ("groovy", "groovy"), ("scala", "scala")):
        path = "/".join(
            part for part in (module, f"src/test/{language}", f"{outer.replace('.', '/')}.{ending}") if part
        )
        if outer and os.path.isfile(root / path):  # noqa: PTH113 - whether it is there says nothing more
            return "::".join(map(name_part, (path, *inner, name.removesuffix("()"))))
    return "::".join(name_part(part) for part in (classname, name.removesuffix("()")) if part)


JVM: Final = Runner(
    name="Surefire, Gradle",
    ids="`src/test/java/path/Class.java::method`; a class elsewhere by its name",
    report=jvm_report,
)
