"""`kotef classify` tells what an output means, whatever is in it; a usage error is one line and exit status 2."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO, cast

import pytest
from click.testing import CliRunner, Result
from support.loop import BUG, UNITTEST_TEST

from kotef.cli.commands.classify import CHUNK, HEAD, TAIL, read_ends
from kotef.cli.main import main

RED = """F.                                                                       [100%]
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


def classify(*arguments: str, output: str | bytes = RED) -> Result:
    return CliRunner().invoke(main, ["classify", *arguments], input=output)


def told(*arguments: str, output: str | bytes = RED) -> dict[str, object]:
    done = classify("--json", *arguments, output=output)
    assert done.exit_code == 0, done.output
    answer: dict[str, object] = json.loads(done.output)
    return answer


def test_standard_input_is_told_in_a_few_lines() -> None:
    done = classify("--command", "pytest -q", "--exit-code", "1")

    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0] == "test_failure (assertion)"
    assert lines[1] == "  tests/test_cart.py::test_total (tests/test_cart.py:7)"
    assert lines[2] == "  assert 4 == 5"
    assert lines[-1].startswith("fingerprint ")


def test_json_holds_all_that_is_known() -> None:
    answer = told("--command", "pytest -q", "--exit-code", "1")

    assert answer["kind"] == "test_failure"
    assert answer["tests"] == ["tests/test_cart.py::test_total"]
    assert answer["exitCode"] == 1
    assert answer["environmentFault"] is False
    assert len(str(answer["fingerprint"])) == 12


def test_the_exit_status_and_the_command_are_not_needed() -> None:
    assert told() == told("--command", "") == told("-")
    assert told()["kind"] == "test_failure"
    assert told()["exitCode"] is None
    assert told()["fingerprint"] == told("--command", "pytest -q", "--exit-code", "1")["fingerprint"]


@pytest.mark.parametrize(
    "output",
    [
        "",
        "2 passed in 0.01s\n",
        "compiling\nwarning: deprecated\ndone\n",
        "x.c:3:1: warning: unused variable 'a'\n",
        "\0\xff",
    ],
)
def test_a_text_without_a_failure_is_none_when_the_status_is_not_known(output: str) -> None:
    assert told(output=output)["kind"] is None
    assert "no failure: the exit status is not known" in classify(output=output).output


@pytest.mark.parametrize(
    ("output", "kind", "detail"),
    [
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nKeyError: 'x'\n",
            "runtime_error",
            "traceback",
        ),
        ("src/a.c:3:5: error: 'x' undeclared\n", "lint_failure", "compile"),
        ("bash: line 1: toxx: command not found\n", "tooling_error", "command_not_found"),
        ("pytest: error: unrecognized arguments: --fast\n", "tooling_error", "usage"),
    ],
)
def test_what_a_tool_says_decides_when_the_status_is_not_known(output: str, kind: str, detail: str) -> None:
    answer = told(output=output)

    assert (answer["kind"], answer["detail"]) == (kind, detail)


def test_a_later_pass_takes_a_failure_back_when_the_status_is_not_known() -> None:
    assert told("--command", "pytest -q", output=RED + "\nagain\n2 passed in 0.01s\n")["kind"] is None


@pytest.mark.parametrize(
    ("status", "output", "said"),
    [
        ("0", "=== 3 failed, 2 passed in 0.10s ===\n", "exit status 0, but the output counts 3 failed"),
        ("1", "=== 2 passed in 0.10s ===\n", "exit status 1, but all tests that ran passed (2)"),
    ],
)
def test_a_contradiction_is_named(status: str, output: str, said: str) -> None:
    answer = told("--exit-code", status, output=output)
    assert answer["detail"] == "contradiction"
    assert str(answer["summary"]).startswith(said)
    assert said in classify("--exit-code", status, output=output).output


def test_a_place_in_this_directory_is_told_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "test_calc.py").write_text(UNITTEST_TEST)
    (tmp_path / "calc.py").write_text(BUG)
    ran = subprocess.run(
        [sys.executable, "-m", "unittest", "-q"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    monkeypatch.chdir(tmp_path)
    summary = told("--command", "python -m unittest -q", output=ran.stderr)["summary"]
    assert "(test_calc.py:8)" in str(summary)


@pytest.mark.parametrize("escape", ["\x1b[31m", "\x1b7", "\x1bc", "\x9b31m", "\x1b(B", "\x1bPq\x1b\\"])
@pytest.mark.parametrize("at", [0, 3, 7, 22])
def test_no_terminal_escape_loses_the_id_of_a_failed_test(escape: str, at: int) -> None:
    line = "FAILED tests/test_x.py::test_y - assert 1 == 2\n"
    output = f"{line[:at]}{escape}{line[at:]}=== 1 failed in 0.1s ===\n"
    assert told(output=output)["tests"] == ["tests/test_x.py::test_y"]


def test_an_exit_status_that_lies_is_contradicted() -> None:
    assert told("--command", "pytest -q | cat", "--exit-code", "0")["kind"] == "test_failure"


def test_a_machine_that_is_at_fault_is_named() -> None:
    done = classify("--command", "toxx", "--exit-code", "127", output="bash: line 1: toxx: command not found\n")

    assert "tooling_error (command_not_found, caused by the machine, not the code)" in done.output


def test_a_file_is_read_as_well_as_standard_input(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text(RED)

    assert told(str(log)) == told()


@pytest.mark.parametrize("arguments", [["missing.log"], ["."], ["--exit-code", "one"], ["a", "b"]])
def test_what_cannot_be_read_is_a_usage_error_of_one_line(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = classify(*arguments)

    assert done.exit_code == 2
    assert len(done.output.strip().splitlines()) == 1
    assert done.output.startswith("kotef: error: ")


def test_any_bytes_are_read_and_none_of_them_steers_the_terminal() -> None:
    hostile = b"\xff\xfe\x00\x1b]0;title\x07\x1b[2J\x9b31m" + RED.encode() + b"\xe9 no final newline"

    done = classify(output=hostile)

    assert done.output.startswith("test_failure")
    assert all(char == "\n" or char.isprintable() for char in done.output)


class Endless(io.RawIOBase):
    """Two gigabytes that exist only while they are read, with a verdict at the end."""

    def __init__(self, size: int) -> None:
        self.left = size

    def read(self, size: int = -1) -> bytes:
        assert 0 < size <= max(HEAD, CHUNK), "bounded reads only"
        self.left, before = self.left - size, self.left
        return (b"." * (size - 1) + b"\n") if self.left > 0 else b"1 failed in 0.5s\n" if before > 0 else b""


def test_two_gigabytes_are_read_in_bounded_memory() -> None:
    text = read_ends(cast("BinaryIO", Endless(2 << 30)))

    assert len(text) <= HEAD + TAIL + CHUNK
    assert text.endswith("1 failed in 0.5s\n")


def test_the_command_loads_nothing_heavy() -> None:
    code = (
        "import sys; from kotef.cli.main import main; main(['classify'], standalone_mode=False);"
        "print(sorted({'langgraph', 'langchain', 'pydantic', 'openai', 'rich'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=RED, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.stderr.strip() == "[]"
    assert done.stdout.startswith("test_failure")


def test_exit_status_0_is_believed_and_what_looks_like_failure_is_not_denied() -> None:
    named = classify("--exit-code", "0", output="FAILED tests/test_a.py::test_x - boom\n")

    assert named.output == "no failure: the exit status is 0, although some lines look like a failure\n"
    assert "nothing in the output reports one" in classify("--exit-code", "0", output="fine\n").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("diff", "--attempt", "x"), "--attempt x: expected a whole number of at least 1"),
        (("check", "--reruns", "99"), "--reruns 99: expected a whole number from 0 to 10"),
        (("run", "--max-cost", "0"), "--max-cost 0.0: expected a number above 0"),
        (("classify", "--exit-code", "1.5"), "--exit-code 1.5: expected a whole number"),
    ],
)
def test_a_number_that_there_is_not_is_told_with_those_there_are(arguments: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(main, arguments)

    assert done.exit_code == 2
    assert said in done.stderr


def test_a_search_that_found_nothing_is_no_failure() -> None:
    done = classify("--command", "grep -rn todo src", "--exit-code", "1", output="")

    assert done.output == "no failure: grep found no match (exit status 1)\n"
    assert told("--command", "grep -rn todo src", "--exit-code", "1", output="")["detail"] == "no_match"
