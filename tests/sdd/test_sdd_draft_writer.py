"""What a model calls a check stands in a ticket as that very command, or not at all."""

import pytest

from kotef.sdd.draft_writer import MAX_LINE, command_only


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("`pytest -q`", "pytest -q"),
        ("``echo `date` ``", "echo `date`"),
        ("echo `date`", "echo `date`"),
        ("$ pytest\n  -q", "pytest -q"),
        ("```\nrm -rf x", ""),
        ("# a comment", ""),
        ("cat <<EOF", ""),
        (f"pytest {'x' * MAX_LINE}", ""),
    ],
)
def test_a_command_is_taken_whole_or_not_at_all(said: str, command: str) -> None:
    assert command_only(said) == command
