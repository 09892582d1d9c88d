"""Every gap of a ticket is named with its file and line, and what has none is clean."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cpu_time import bounded_cpu
from support.foreign import PLAN, PLAN_OF_KIRO, SPEC, TASKS, kiro, spec_kit

from kotef.runs.spec_lint import lint_workspace
from kotef.sdd.lint import CODES, lint_between, lint_ticket
from kotef.sdd.skeleton import TEMPLATE, write_skeleton
from kotef.sdd.ticket import read_ticket
from kotef.sdd.tickets import TicketFolder

CLEAN = """\
# Ticket: {n} Do it

Dependencies: {needs}

## Objective & DoD

It shall be done.

**Definition of Done**

- [ ] All tests pass
- [ ] `test_adds` passes
- [ ] docs/usage.md exists
- [x] somebody has looked

## Tests

```sh
python -m unittest -q
```
"""


def ticket(root: Path, n: str, text: str = CLEAN, needs: str = "none", folder: str = "open") -> None:
    path = root / ".sdd" / "backlog" / "tickets" / folder / f"{n}-x.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("{n}", n).replace("{needs}", needs))


def found(root: Path) -> list[tuple[str, int, str]]:
    return [(Path(each.path).name, each.line, each.code) for each in lint_workspace(root).findings]


def test_a_ticket_without_gaps_is_clean(tmp_path: Path) -> None:
    ticket(tmp_path, "01")
    ticket(tmp_path, "02", needs="01")
    ran = lint(tmp_path)
    assert (ran.code, ran.stdout) == (0, "2 open tickets: no gap\n")


def lint(root: Path, *more: str):
    from click.testing import CliRunner
    from support.loop import Ran

    from kotef.cli.main import main

    done = CliRunner().invoke(main, ["spec", "lint", "--root", str(root), *more])
    return Ran(done.exit_code, done.stdout, done.stderr, root)


@pytest.mark.parametrize(
    ("old", "new", "line", "code"),
    [
        ("\n## Tests\n\n```sh\npython -m unittest -q\n```\n", "", 1, "no-check"),
        ("```sh\npython -m unittest -q\n```\n", "later\n", 16, "no-check"),
        ("- [ ] All tests pass", "- [ ] It feels right", 11, "unprovable"),
        ("- [ ] All tests pass", "- All tests pass", 11, "no-box"),
        ("{needs}", "02 and 09", 3, "missing-dependency"),
        ("{needs}", "01", 3, "dependency-cycle"),
        ("## Tests", "## Test", 16, "unknown-heading"),
        ("python -m unittest -q", "no-such-program --now", 19, "missing-program"),
        ("python -m unittest -q", "X=1 .venv/bin/pytest -q", 19, "missing-program"),
        ("It shall be done.", "allow test edits:", 7, "no-paths"),
        ("# Ticket: {n} Do it", "", 1, "no-title"),
        ("```\n", "", 18, "unclosed-fence"),
    ],
)
def test_a_gap_is_named_with_its_line(tmp_path: Path, old: str, new: str, line: int, code: str) -> None:
    assert old in CLEAN
    ticket(tmp_path, "01", CLEAN.replace(old, new))
    assert ("01-x.md", line, code) in found(tmp_path)
    ran = lint(tmp_path)
    assert ran.code == 3
    assert f".sdd/backlog/tickets/open/01-x.md:{line}: {code}: " in ran.stdout


def test_tickets_that_wait_for_each_other_are_one_finding_for_each_ring(tmp_path: Path) -> None:
    ticket(tmp_path, "01", needs="03")
    ticket(tmp_path, "02", needs="01")
    ticket(tmp_path, "03", needs="02, 04")
    ticket(tmp_path, "04", needs="00")
    ticket(tmp_path, "00", folder="closed")
    (ring,) = lint_workspace(tmp_path).findings
    assert (ring.code, ring.line) == ("dependency-cycle", 3)
    assert ring.message.endswith("01 → 03 → 02 → 01")


def test_a_copy_of_the_template_of_init_asks_for_nothing_yet(tmp_path: Path) -> None:
    write_skeleton(tmp_path, ("python -m unittest -q",))
    assert found(tmp_path) == []
    place = tmp_path / ".sdd/backlog/tickets/open"
    place.mkdir()
    (place / "01-cart.md").write_text((tmp_path / TEMPLATE).read_text())
    assert found(tmp_path) == [("01-cart.md", 1, "empty-ticket")]


def test_two_tickets_with_one_number_and_empty_ones_are_found(tmp_path: Path) -> None:
    ticket(tmp_path, "01")
    ticket(tmp_path, "1")
    ticket(tmp_path, "02", folder="closed")
    ticket(tmp_path, "02")
    ticket(tmp_path, "03", "")
    ticket(tmp_path, "04", "# Ticket: 04 Nothing\n")
    assert [(name, code) for name, _, code in found(tmp_path)] == [
        ("02-x.md", "duplicate-id"),
        ("03-x.md", "empty-ticket"),
        ("04-x.md", "empty-ticket"),
        ("1-x.md", "duplicate-id"),
    ]


def test_a_program_the_task_may_write_is_no_gap(tmp_path: Path) -> None:
    ticket(tmp_path, "01", CLEAN.replace("python -m unittest -q", "./check.sh && cd sub && sh -c 'true' | cat"))
    assert found(tmp_path) == [("01-x.md", 11, "unprovable")], "no test check is left that could prove line 11"


def test_specs_of_other_tools_are_linted(tmp_path: Path) -> None:
    spec_kit(
        tmp_path, tasks=TASKS + "- [ ] T004 Write docs/again.md\n", spec=SPEC.replace("### Edge Cases", "### Edge Case")
    )
    kiro(tmp_path, tasks=PLAN_OF_KIRO.replace("1.1, 2_", "1.1, 9.9_"))
    lines = TASKS.splitlines()

    assert found(tmp_path) == [
        ("tasks.md", 1, "no-check"),
        ("tasks.md", 4, "unprovable"),
        ("tasks.md", 5, "missing-requirement"),
        ("tasks.md", 5, "unprovable"),
        ("tasks.md", 8, "unprovable"),
        ("tasks.md", 10, "unprovable"),
        ("spec.md", 26, "unknown-heading"),
        ("spec.md", 33, "needs-clarification"),
        ("tasks.md", 19, "unprovable"),
        ("tasks.md", 22, "missing-dependency"),
        ("tasks.md", 27, "duplicate-id"),
    ]
    assert "T099" in lines[21]
    spec_kit(
        tmp_path, "002-plan", plan=PLAN.replace("python", "no-such-program"), tasks="- [ ] T001 Write a.md\n", spec=""
    )
    assert ("plan.md", 10, "missing-program") in found(tmp_path)


def test_json_has_every_finding_and_nothing_else(tmp_path: Path) -> None:
    ticket(tmp_path, "01", CLEAN, needs="\x1b[2J-evil-ticket")
    ran = lint(tmp_path, "--json")
    told = json.loads(ran.stdout)
    assert (ran.code, told["tickets"]) == (3, 1)
    assert {"path", "line", "code", "message", "about"} == set(told["findings"][0])
    assert "\x1b" not in ran.stdout + lint(tmp_path).stdout


def test_options_in_front_of_lint_are_a_usage_error_that_says_where_they_stand(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from kotef.cli.main import main

    done = CliRunner().invoke(main, ["spec", "--root", str(tmp_path), "lint"])
    assert (done.exit_code, "go after its name" in done.stderr) == (2, True)


@given(
    st.lists(
        st.one_of(st.sampled_from([*CLEAN.splitlines(), "allow test edits:", "## Tets"]), st.text(max_size=20)),
        max_size=25,
    )
)
def test_any_ticket_can_be_linted_and_every_line_is_in_its_file(lines: list[str]) -> None:
    text = "\n".join(lines)
    read = read_ticket(".sdd/backlog/tickets/open/01-x.md", text)
    folder = TicketFolder(
        open=(read, read.model_copy(update={"id": "02", "path": "b.md", "dependencies": ("01", "02")}))
    )
    gaps = [*lint_ticket(read, text, ["pytest -q"], lambda _: "gone"), *lint_between(folder, {read.path: text})]
    assert all(1 <= gap.line <= max(1, len(text.splitlines()) + 1) for gap in gaps)
    assert {gap.code for gap in gaps} <= set(CODES)


def test_tasks_that_all_wait_for_each_other_are_told_in_a_few_lines_and_soon(tmp_path: Path) -> None:
    names = [f"T{number:03}" for number in range(1, 61)]
    waits = ", ".join(names)
    spec_kit(tmp_path, tasks="".join(f"- [ ] {name} x (depends on {waits})\n" for name in names))
    with bounded_cpu():
        cycles = [each for each in lint_workspace(tmp_path).findings if each.code == "dependency-cycle"]

    assert 1 <= len(cycles) <= 20
