"""Maven Surefire, Failsafe and Gradle: the XML reports in their build folders."""

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from kotef.checks.reports import status_of_case
from kotef.checks.runners.line_reports import add
from kotef.checks.runners.plugin_reports import DamagedReportError
from kotef.checks.runners.report_files import written_files
from kotef.checks.runners.row import Leavings, Runner, Statuses
from kotef.checks.runners.xml_reports import documents
from kotef.integrity import numbered, test_id

_BUILDS: Final = frozenset({"mvn", "mvnw", "mvnd", "gradle", "gradlew"})
_MANIFESTS: Final = ("pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
_SUREFIRE: Final = re.compile(r"(?:(?P<module>.*)/)?target/(?:surefire|failsafe)-reports")
_GRADLE: Final = re.compile(r"(?:(?P<module>.*)/)?build/test-results/[^/]+")
_REPORT: Final = re.compile(r"TEST-.*\.xml")
_SOURCES: Final = frozenset({"src", "classes", "test-classes"})
_SOURCE: Final = re.compile(r"(?:.*/)?src/test/\w+/(?P<path>.*)\.\w+")
_METHOD: Final = re.compile(r"(?P<name>[\w$]+)(?:\(.*)?(?:\[\d+\].*)?(?: \[\d+\])?")
"""`each(int)[1]` of a parameterized test, `twice [2]` of a repeated one."""


def surefire_report(left: Leavings) -> Statuses | None:
    """The tests of Surefire's reports; empty if Maven succeeded and neither reported nor counted a test."""
    tests = _report(left, _SUREFIRE)
    if "surefire" in left.closings.runners:
        return tests or None
    runs_tests = "mvn" in left.command.asked.tools and re.search(r"\s(?:test|verify)\b", left.command.line)
    if tests == {} and runs_tests and not any("[ERROR]" in line for line in (*left.out, *left.err)):
        return tests
    return tests or None


def gradle_report(left: Leavings) -> Statuses | None:
    """The tests of Gradle's reports; None if there are none, because Gradle does not rerun tests without changes."""
    return _report(left, _GRADLE) or None


def _report(left: Leavings, folder: re.Pattern[str]) -> Statuses | None:
    """The tests of all files in such folders that are newer than the command; None if one is damaged."""
    if not _is_build(left):
        return {}
    root = left.command.root
    written = written_files(root, left.started, folder, _REPORT, passed_over=_SOURCES)
    modules = {file.path: file.folder["module"] or "" for file in written}
    tests: Statuses = {}
    try:
        for path, suite in documents(root, modules):
            seen: Counter[str] = Counter()  # each turn of a repeated test has the same name
            for case in suite.iter("testcase"):
                test = _id(case.get("classname") or "", case.get("name") or "", modules[path], root)
                add(tests, numbered(seen, test, "[{}]"), status_of_case(case))
    except DamagedReportError:
        return None
    return tests


def _is_build(left: Leavings) -> bool:
    """Whether one of the tools may have run; with `-q` the output does not show it."""
    root = left.command.root
    manifest = any(os.path.isfile(root / name) for name in _MANIFESTS)  # noqa: PTH113 - whether it is there says nothing more
    return manifest or bool(_BUILDS.intersection(left.command.asked.tools)) or "BUILD " in left.stdout


def _id(classname: str, name: str, module: str, root: Path) -> str:
    """The file of the class if it is at the usual place, and the name without the `()` that some versions add."""
    outer = classname.partition("$")[0]
    inner = classname[len(outer) :].strip("$").split("$") if "$" in classname else []
    for language, ending in (("java", "java"), ("kotlin", "kt"), ("groovy", "groovy"), ("scala", "scala")):
        path = "/".join(
            part for part in (module, f"src/test/{language}", f"{outer.replace('.', '/')}.{ending}") if part
        )
        if outer and os.path.isfile(root / path):  # noqa: PTH113 - whether it is there says nothing more
            return test_id(path, *inner, name.removesuffix("()"))
    return test_id(classname, name.removesuffix("()"))


def maven_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """`-Dtest`, and the options with which a module without such a test does not fail."""
    chosen = dict.fromkeys(map(_class_and_method, tests))
    if not all(chosen) or any(re.match(r"-Dtest\b|-Dit\.test\b", word) for word in arguments):
        return None
    names = ",".join(name for name in chosen if name)
    return [*arguments, f"-Dtest={names}", "-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false"]


def gradle_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """`--tests` after the task `test`; None for tests of modules, because the other modules would fail."""
    chosen = dict.fromkeys(map(_class_and_method, tests))
    in_modules = any("/" in test.partition("::")[0] and not test.startswith("src/") for test in tests)
    if not all(chosen) or in_modules or arguments.count("test") != 1 or "--tests" in arguments:
        return None
    at = arguments.index("test") + 1
    names = (word for name in chosen for word in ("--tests", name.replace("#", ".")))
    return [*arguments[:at], *names, *arguments[at:]]


def _class_and_method(test: str) -> str:
    """`com.x.ATest$Inner#method` from an id; empty if the id does not have the name of the method."""
    place, *inner, name = test.split("::")
    found = _SOURCE.fullmatch(place)
    method = _METHOD.fullmatch(name)
    if method is None or not (found or inner or "/" not in place):
        return ""
    outer = found["path"].replace("/", ".") if found else place
    return f"{'$'.join((outer, *inner))}#{method['name']}"


_IDS: Final = "`src/test/java/path/Class.java::method`; for a class elsewhere, its name"

SUREFIRE: Final = Runner(
    name="Surefire",
    ids=_IDS,
    tools=frozenset({"mvn", "mvnw", "mvnd"}),
    report=surefire_report,
    single=maven_single,
)
GRADLE: Final = Runner(
    name="Gradle",
    ids=_IDS,
    tools=frozenset({"gradle", "gradlew"}),
    report=gradle_report,
    single=gradle_single,
)
