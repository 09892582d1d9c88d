"""What a program that runs others puts in front of every line is taken off, and nothing else is."""

import pytest

from kotef.classification import classify
from kotef.classification.output_lines import plain_lines

PYTEST = """F.                                                                       [100%]
=================================== FAILURES ===================================
__________________________________ test_total __________________________________

    def test_total():
>       assert total([2, 3]) == 5
E       assert 4 == 5

tests/test_cart.py:7: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total - assert 4 == 5
1 failed, 1 passed in 0.02s
"""


@pytest.mark.parametrize(
    "prefix",
    [
        "web-1  | ",
        "tests_1  | ",
        "[unit] ",
        "api:test: ",
        "packages/api test: ",
        "2026-01-31T10:15:00.123Z ",
        "#12 3.456 ",
    ],
)
def test_a_failure_looks_the_same_behind_every_wrapper(prefix: str) -> None:
    wrapped = "".join(f"{prefix}{line}\n" for line in PYTEST.splitlines())

    assert classify("./run", 1, wrapped, "") == classify("./run", 1, PYTEST, "")


def test_a_prefix_on_few_lines_is_part_of_what_was_said() -> None:
    text = "[cache] warm\nbuilding\n[cache] cold\nlinking\ndone\n"

    assert plain_lines(text) == [*text.splitlines(), ""]


@pytest.mark.parametrize(
    "text",
    ["[ERROR] a\n[ERROR] b\n[ERROR] c\n[ERROR] d\n", "Makefile:3: a\nMakefile:4: b\nMakefile:5: c\n", "ld: error: a\nld: error: b\nld: error: c\n",
     " 3 | int x;\n 4 | int y;\n 5 | int z;\n"],
)  # fmt: skip
def test_levels_places_and_gutters_are_no_prefixes(text: str) -> None:
    assert plain_lines(text) == [*text.splitlines(), ""]
