"""The one reading of command lines: what `links` says is what the strict parser finds."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.shell.command_links import CommandLink, ShellInput, links, shell_input
from kotef.shell.syntax import simple_commands

WORDS = st.text(st.sampled_from("ab-=/.$'\" \\&|;()#>"), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("a 'b c' \"d\"", [("", ("a", "b c", "d"))]),
        ("a && b; c | d\ne", [("", ("a",)), ("&&", ("b",)), (";", ("c",)), ("|", ("d",)), (";", ("e",))]),
        ("a > log 2>&1 < in && b", [("", ("a",)), ("&&", ("b",))]),
        ("(a; b) | c", [("(", ("a",)), (";", ("b",)), ("|", ("c",))]),
        ("a $(b c) d", [("", ("a", "$(b c)", "d")), ("$(", ("b", "c"))]),
        ('a "`b`" $X ${Y}', [("", ("a", "`b`", "$X", "${Y}")), ("$(", ("b",))]),
        ("if a; then b; fi", [("", ("a",)), (";", ("b",))]),
        ("a # b && c", [("", ("a",))]),
        ("a $(b", [("", ("a", "$(b)")), ("$(", ("b",))]),
        ("a 'b && c", [("", ("a", "b && c"))]),
        ("", []),
    ],
)
def test_a_line_is_read_in_the_order_in_which_it_is_written(
    line: str, found: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert [(link.after, link.words) for link in links(line)] == found


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_quoted_words_are_words(words: list[str]) -> None:
    assert links(shlex.join(["run", *words])) == [CommandLink("", ("run", *words), shlex.join(["run", *words]))]


@given(st.lists(st.lists(WORDS, max_size=3), min_size=1, max_size=4), st.sampled_from(["&&", "||", ";", "|"]))
def test_both_readings_find_the_same_commands(commands: list[list[str]], operator: str) -> None:
    line = f" {operator} ".join(shlex.join(["run", *words]) for words in commands)
    assert [list(link.words) for link in links(line)] == [command.words for command in simple_commands(line)]


@given(st.text(st.sampled_from("ab '\"$`(){}|&;<>#\n\\"), max_size=30))
def test_any_text_is_read(line: str) -> None:
    for link in links(line, shells=True):
        assert link.words


@pytest.mark.parametrize("shell", ["sh -c", "bash -lc", "bash -eo pipefail -c", "/bin/bash -o pipefail -ec"])
def test_a_shell_with_a_line_stands_for_the_commands_of_that_line(shell: str) -> None:
    assert [link.words for link in links(f"{shell} 'a && b' && c", shells=True)] == [("a",), ("b",), ("c",)]


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        (["-c", "a"], ShellInput("a", "")),
        (["-c"], ShellInput("", "")),
        (["+x", "--norc", "run.sh", "-c"], ShellInput(None, "run.sh")),
        (["-Eeuo", "pipefail", "run.sh"], ShellInput(None, "run.sh")),
        (["--", "-c"], ShellInput(None, "-c")),
        (["-s"], ShellInput(None, "")),
    ],
)
def test_a_shell_reads_a_line_or_a_file_or_its_input(arguments: list[str], read: ShellInput) -> None:
    assert shell_input(arguments) == read
