"""The test command of a C or C++ project: CMake, meson, autotools, or a Makefile in the test folder."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from posixpath import basename
from typing import Final

from kotef.checks.project_config import readable_text
from kotef.checks.projects import DetectedCheck
from kotef.checks.projects.declared_commands import MAKEFILES
from kotef.checks.projects.test_programs import built_test_programs
from kotef.files import list_within

_MOST: Final = 500
"""Entries of a folder that are looked at."""
_TESTED: Final = re.compile(
    r"^\s*(?:enable_testing|add_test|include\s*\(\s*CTest|gtest_discover_tests)\b", re.MULTILINE
)
_MESON_TEST: Final = re.compile(r"^\s*(?:test|subdir)\s*\(", re.MULTILINE)
_MAKE_TEST: Final = re.compile(r"^(test|tests|check)\s*::?(?!=)", re.MULTILINE)


def checks(root: Path) -> Iterator[DetectedCheck]:
    """The tests of the build folder that is configured; of none, the command that would run them once it is.

    A target of the Makefile is taken before a build folder that is not there.
    """
    found = [*_cmake(root), *_meson(root), *_autotools(root)]
    yield from found[:1]
    if not found and not any(_MAKE_TEST.search(readable_text(root, name)) for name in MAKEFILES):
        yield from _unconfigured(root)


def _cmake(root: Path) -> Iterator[DetectedCheck]:
    if not (root / "CMakeLists.txt").is_file():
        return
    for name in _folders(root):
        if not (root / name / "CMakeCache.txt").is_file():
            continue
        if (root / name / "CTestTestfile.cmake").is_file():
            yield DetectedCheck("ctest", _ctest(name), "test", f"CMakeLists.txt: {name}/")
        elif programs := built_test_programs(root, name):
            command = " && ".join([f"cmake --build {shlex.quote(name)}", *map(shlex.quote, programs)])
            yield DetectedCheck(basename(programs[0]), command, "test", f"CMakeLists.txt: {name}/, unknown to ctest")


def _ctest(folder: str) -> str:
    place = shlex.quote(folder)
    return f"cmake --build {place} && ctest --test-dir {place} --output-on-failure"


def _meson(root: Path) -> Iterator[DetectedCheck]:
    if (root / "meson.build").is_file():
        for name in _folders(root):
            if (root / name / "meson-private").is_dir():
                yield DetectedCheck("meson test", f"meson test -C {shlex.quote(name)}", "test", f"meson.build: {name}/")


def _autotools(root: Path) -> Iterator[DetectedCheck]:
    source = next((name for name in ("configure.ac", "configure.in", "configure") if (root / name).is_file()), "")
    if source and (root / "config.status").is_file() and (root / "Makefile").is_file():
        target = next(iter(sorted(_MAKE_TEST.findall(readable_text(root, "Makefile")))), "check")
        yield DetectedCheck(f"make {target}", f"make {target}", "test", source)


def _unconfigured(root: Path) -> Iterator[DetectedCheck]:
    """What would run the tests: it is tried as any other, and cannot start yet."""
    if _TESTED.search(readable_text(root, "CMakeLists.txt")):
        yield DetectedCheck("ctest", _ctest("build"), "test", "CMakeLists.txt")
    elif _MESON_TEST.search(readable_text(root, "meson.build")):
        yield DetectedCheck("meson test", "meson test -C build", "test", "meson.build")
    elif (root / "configure.ac").is_file() or (root / "Makefile.am").is_file():
        yield DetectedCheck("make check", "make check", "test", "configure.ac")
    else:
        yield from _in_test_folder(root)


def _in_test_folder(root: Path) -> Iterator[DetectedCheck]:
    for folder in ("tests", "test"):
        for name in MAKEFILES:
            text = readable_text(root, f"{folder}/{name}")
            if targets := sorted(_MAKE_TEST.findall(text), reverse=True):
                command = f"make -C {folder} {targets[0]}"
                yield DetectedCheck(command, command, "test", f"{folder}/{name}: {targets[0]}")
                return


def _folders(root: Path) -> list[str]:
    """Folders at the top, `build` first."""
    try:
        names = [entry.name for entry in list_within(root, most=_MOST) if entry.is_directory]
    except OSError:
        return []
    return sorted(names, key=lambda name: (name != "build", name))
