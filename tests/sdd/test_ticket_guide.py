"""What `docs/writing-a-ticket.md` tells is so."""

import re
from pathlib import Path

from kotef.sdd.done_evidence import could_be_proved
from kotef.sdd.lint import CODES
from kotef.sdd.ticket import read_ticket

GUIDE = (Path(__file__).parent.parent.parent / "docs" / "writing-a-ticket.md").read_text()


def test_its_table_has_every_code_of_lint() -> None:
    rows = re.findall(r"^\| (`[a-z`, -]+`) \|", GUIDE, re.MULTILINE)
    assert set(re.findall(r"`([a-z-]+)`", " ".join(rows))) == set(CODES)


def test_its_example_reads_without_a_problem_and_every_line_could_be_proved() -> None:
    (example,) = re.findall(r"^````markdown\n(.*?)^````", GUIDE, re.MULTILINE | re.DOTALL)
    ticket = read_ticket("07-parse-time-zones.md", example)
    assert ticket.problems == ()
    assert ticket.dependencies == ("05", "06")
    assert all(could_be_proved(line.text, ["python -m pytest -q"]) for line in ticket.done)
