"""Projects of cargo and ctest around a product that is wrong."""

from random import Random

from support.worlds.products import DOMAINS, cases_of
from support.worlds.projects import Project

AREA = next(domain for domain in DOMAINS if "area" in domain.functions)


def cargo_project(rng: Random) -> Project:
    """A crate with tests of their own."""
    function, cases = rng.choice(AREA.functions), cases_of(AREA, rng, 2)
    made = Project(
        "rust",
        "cargo",
        "crate",
        "eq",
        AREA,
        function,
        "src/lib.rs",
        "areas",
        "tests/area.rs",
        "cargo test --offline -q",
        cases,
    )
    tests = "".join(
        f"\n#[test]\nfn test_{number}() {{\n    assert_eq!({function}({case.json_call}), {case.expected});\n}}\n"
        for number, case in enumerate(cases)
    )
    made.files = {
        "Cargo.toml": '[package]\nname = "areas"\nversion = "0.1.0"\nedition = "2021"\n',
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "areas"\nversion = "0.1.0"\n',
        made.product: f"pub fn {function}(width: i64, height: i64) -> i64 {{\n    width + height\n}}\n",
        made.test: f"use areas::{function};\n{tests}",
        ".gitignore": "target/\n",
    }
    return made


def ctest_project(rng: Random) -> Project:
    """A library of C whose test is a program."""
    function, cases = rng.choice(AREA.functions), cases_of(AREA, rng, 2)
    check = (
        "cmake -S . -B build >/dev/null && cmake --build build >/dev/null && ctest --test-dir build --output-on-failure"
    )
    made = Project("c", "ctest", "cmake", "assert", AREA, function, "area.c", "area", "test_area.c", check, cases)
    lines = "".join(f"    assert({function}({case.json_call}) == {case.expected});\n" for case in cases)
    made.files = {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(areas C)\nenable_testing()\n"
        "add_executable(test_area test_area.c area.c)\nadd_test(NAME area COMMAND test_area)\n",
        "area.h": f"int {function}(int, int);\n",
        "area.c": f'#include "area.h"\n\nint {function}(int a, int b) {{ return a + b; }}\n',
        made.test: f'#include "area.h"\n#include <assert.h>\n\nint main(void) {{\n{lines}    return 0;\n}}\n',
        ".gitignore": "build/\n",
    }
    return made
