"""Expected results that stand in tables and files: each made wrong turns an honest test red, whatever row comes first."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.integrity.probes.oracles import WrongAnswer, wrong_answers

CODE = "import json\nfrom pathlib import Path\n\nsut = lambda v: v\napprox = lambda v, **_: v\n\n\n"
LOOPS = (
    "for given, expected in {rows}:\n        assert sut(given) == expected",
    "for number, (given, expected) in enumerate({rows}, 1):\n        assert expected == sut(given), f'{{number}} {{expected}}'",
    "for row in {rows}:\n        assert sut(row[0]) == row[1]",
    "for given, want in zip({given}, {want}):\n        assert sut(given) == want",
    "cases = {rows}\n    for given, expected in cases:\n        if given is None:\n            continue\n        assert sut(given) == expected",
)
simple = st.one_of(
    st.integers(-99, 99), st.text("abc019", min_size=1, max_size=4), st.lists(st.integers(0, 9), max_size=2)
)


def answers(text: str, files: dict[str, str] | None = None, *, seed: int = 3) -> list[WrongAnswer]:
    """Those of `test_x` that can be confirmed."""
    read = {path: content.encode() for path, content in (files or {}).items()}.get
    found = wrong_answers("tests/test_a.py", text.encode(), "tests/test_a.py::test_x", seed=seed, read=read)
    return [answer for answer in found if answer.halted is not None]


def is_red(content: bytes, name: str = "test_x") -> bool:
    space: dict[str, object] = {}
    exec(compile(content, "test_a.py", "exec"), space)
    try:
        space[name]()  # type: ignore[operator]
    except AssertionError:
        return True
    return False


@example_count(80)
@given(st.lists(simple, min_size=1, max_size=4), st.sampled_from(LOOPS), st.integers(0, 99))
def test_each_row_of_a_loop_is_made_wrong(rows: list[object], form: str, seed: int) -> None:
    pairs = [(row, row) for row in rows]
    loop = form.format(rows=pairs, given=rows, want=rows)
    text = f"{CODE}def test_x():\n    {loop}\n"
    assert not is_red(text.encode())

    found = answers(text, seed=seed)

    assert found
    assert found[0].kind == "literal"
    assert is_red(found[0].content)
    assert is_red(found[0].halted or b"")
    lines = found[0].content.decode().split("\n")
    at = next(number for number, line in enumerate(lines) if line.startswith("        assert"))
    for number in range(len(rows)):  # whichever row is the only one that is compared
        body = [*lines[:at], f"        if next(counted) != {number}:\n            continue", *lines[at:]]
        text = "import itertools\n\ncounted = itertools.count()\n" + "\n".join(body)
        assert is_red(text.encode()), number


GOLDEN = (
    "for args, expected in json.loads(Path('tests/data/expected.json').read_text()):\n        assert f(*args) == expected",
    "with open('tests/data/expected.json') as file:\n        cases = json.load(file)\n    for args, expected in cases:\n        assert f(*args) == expected, args",
    "here = Path(__file__).parent\n    for args, expected in json.loads((here / 'data' / 'expected.json').read_text()):\n        assert expected == f(*args)",
    "for case in json.loads(Path('tests/data/expected.json').read_text()):\n        assert f(*case[0]) == case[1]",
)
ROWS = [[[2, 3], 5], [[1, 1], {"a": 2.5}], [["x"], None], [["y"], True], [[], []]]


@pytest.mark.parametrize("form", GOLDEN)
def test_every_row_of_a_golden_file_is_made_wrong(form: str, tmp_path: Path) -> None:
    before = json.dumps(ROWS, indent=1)
    text = f"import json\nfrom pathlib import Path\n\nfrom product import f\n\n\ndef test_x():\n    {form}\n"
    product = f"def f(*args):\n    return {{json_of(a): b for a, b in {ROWS!r}}}[json_of(list(args))]\n\n\nfrom json import dumps as json_of\n"

    found = [answer for answer in answers(text, {"tests/data/expected.json": before}) if answer.kind == "golden"]

    assert [answer.path for answer in found] == ["tests/data/expected.json"]
    wrong = json.loads(found[0].content)
    assert [row[0] for row in wrong] == [row[0] for row in ROWS], "what goes in stays"
    assert all(one[1] != other[1] for one, other in zip(wrong, ROWS, strict=True))
    (tmp_path / "tests/data").mkdir(parents=True)
    (tmp_path / "product.py").write_text(product)
    (tmp_path / "tests/test_a.py").write_text(text)
    for content, code in ((before.encode(), 0), (found[0].content, 1)):
        (tmp_path / "tests/data/expected.json").write_bytes(content)
        run = "import sys; sys.path[:0] = ['tests', '.']; import test_a; test_a.test_x()"
        ran = subprocess.run([sys.executable, "-B", "-c", run], cwd=tmp_path, capture_output=True, check=False)
        assert ran.returncode == code, ran.stderr.decode()


@pytest.mark.parametrize(
    "form",
    [
        "for case in json.loads(Path('tests/data/expected.json').read_text()):\n        assert sut(case) == case",
        "for args, expected in json.loads(Path('tests/data/expected.json').read_text()):\n        expected = sut(expected)\n        assert sut(args) == expected",
        "for args, expected in json.loads(Path('tests/data/expected.json').read_text()):\n        assert sut(expected) == expected",
        "for args, *expected in json.loads(Path('tests/data/expected.json').read_text()):\n        assert sut(args) == expected",
    ],
    ids=["round trip", "changed", "read twice", "starred"],
)
def test_a_golden_file_whose_values_also_go_in_is_no_oracle(form: str) -> None:
    text = f"{CODE}def test_x():\n    {form}\n"

    found = answers(text, {"tests/data/expected.json": json.dumps(ROWS)})

    assert not [answer for answer in found if answer.kind == "golden"]


def test_data_that_do_not_lie_among_the_tests_are_left_to_the_product() -> None:
    text = f"{CODE}def test_x():\n    assert sut(1) == json.loads(Path('data/expected.json').read_text())\n"

    assert not [answer for answer in answers(text, {"data/expected.json": "[1]"}) if answer.kind == "golden"]


@example_count(20, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 999))
def test_a_text_file_that_is_compared_as_a_whole_has_another_letter(seed: int) -> None:
    text = f"{CODE}def test_x():\n    want = Path('tests/golden/page.txt').read_text().strip()\n    assert sut(1) == want\n"

    found = answers(text, {"tests/golden/page.txt": "one two\nthree 4\n"}, seed=seed)

    assert [each.path for each in found if each.kind == "golden"] == ["tests/golden/page.txt"]
    assert found[0].asserting == "tests/test_a.py"
