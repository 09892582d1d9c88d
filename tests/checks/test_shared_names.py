"""A name that several failing tests share: what the output says of one of them is not said of the others."""

from pathlib import Path

from kotef.checks.failure_list import failures_of
from kotef.checks.types import CommandResult

TAP = """TAP version 13
# first
not ok 1 should be equal
  ---
    at: Test.<anonymous> ({root}/test/a.js:11:4)
  ...
# second
not ok 2 should be equal
  ---
    at: Test.<anonymous> ({root}/test/b.js:22:4)
  ...
1..2
"""


def reported(root: Path, *names: str) -> list[tuple[str, str, int | None]]:
    result = CommandResult(
        command="npm test",
        exit_code=1,
        passed=False,
        stdout=TAP.format(root=root),
        tests=dict.fromkeys(names, "failed"),
        summary="failed",
    )
    return [(failure.test, failure.file, failure.line) for failure in failures_of(result, root)]


def test_tests_that_share_a_name_do_not_share_a_place(tmp_path: Path) -> None:
    found = reported(tmp_path, "first::should be equal", "second::should be equal")
    assert [test for test, _, _ in found] == ["first::should be equal", "second::should be equal"]
    assert not any(line for _, _, line in found)


def test_a_test_alone_with_its_name_has_its_place(tmp_path: Path) -> None:
    assert reported(tmp_path, "first::should be equal") == [("first::should be equal", "test/a.js", 11)]
