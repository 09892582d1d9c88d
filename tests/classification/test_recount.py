"""What the attempts of a run did is told in at most 500 tokens, and no text in it can be taken for anything else."""

from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.failures.visit_history import MAX_BYTES, Visit, before, merge_visits, recount


def visit(number: int, **fields: object) -> Visit:
    return Visit.model_validate({"visit": number, "tree": f"t{number}", **fields})


def ids(name: str, count: int) -> tuple[str, ...]:
    return tuple(f"tests/test_{name}.py::test_{name}_{number}" for number in range(count))


def test_nothing_is_told_before_the_first_attempt() -> None:
    assert recount({}) == ""
    assert recount({0: visit(0, red=ids("a", 3))}) == ""


def test_the_newest_is_told_in_full_and_older_ones_shorter() -> None:
    told = {"changed": ("a.py", "b.py"), "said": "I did it", "fixed": ids("f", 5), "broke": ids("b", 5)}
    newest, older = recount({n: visit(n, **told) for n in range(3)}).splitlines()
    assert newest.startswith("- attempt 2: changed a.py, b.py; fixed tests/test_f.py::test_f_0, ")
    assert "test_f_4; broke" in newest
    assert newest.endswith('it said "I did it"')
    assert older.startswith("- attempt 1: ")
    assert "test_f_2 and 2 more" in older


def test_what_has_no_room_is_counted() -> None:
    long = {"changed": ids("c", 40), "said": "x" * 300, "fixed": ids("f", 1000), "broke": ids("b", 1000)}
    lines = recount({n: visit(n, **long) for n in range(1, 21)}).splitlines()
    assert "changed tests/test_c.py::test_c_0" in lines[0], "the newest names what it can"
    assert lines[-1] == f"({20 - len(lines) + 1} earlier attempts left out)"
    assert 5 < len(lines) < 21


def test_a_recorded_visit_replaces_itself() -> None:
    """A crash may run the planner twice."""
    once = merge_visits({0: visit(0)}, {1: visit(1)})
    assert merge_visits(once, {1: visit(1)}) == once
    assert before(once, 1) == visit(0)
    assert before(once, 0) is None


TEXT = st.text(max_size=80)
NAMES = st.lists(TEXT, max_size=12)


@example_count(80)
@given(st.lists(st.tuples(NAMES, NAMES, NAMES, TEXT), min_size=1, max_size=20))
def test_whatever_the_texts_it_is_bounded_and_made_of_its_own_lines(
    attempts: list[tuple[list[str], list[str], list[str], str]],
) -> None:
    visits = {
        number: visit(number, changed=changed, fixed=fixed, broke=broke, said=said)
        for number, (changed, fixed, broke, said) in enumerate(attempts, 1)
    }
    told = recount(visits)
    assert len(told.encode()) <= MAX_BYTES
    lines = told.split("\n")
    assert all(line.startswith("- attempt ") for line in lines[:-1])
    assert lines[-1].startswith(("- attempt ", "("))
    assert lines[0].startswith(f"- attempt {len(attempts)}: "), "the newest always has room"
    assert "<" not in told
    assert all(line.isprintable() for line in lines)
    assert recount(dict(reversed(visits.items()))) == told, "the order of the channel does not matter"
