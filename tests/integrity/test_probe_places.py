"""Tests as files define them, for checks whose runner names none."""

import pytest

from kotef.integrity.probes.oracles import wrong_answers
from kotef.integrity.probes.places import defined_tests

FILES = {
    "tests/area.rs": "use areas::area;\n\n#[test]\nfn test_0() {\n    assert_eq!(area(2, 3), 6);\n}\n",
    "src/lib.rs": "pub fn area(a: i64, b: i64) -> i64 { a * b }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    #[ignore]\n    fn inside() {\n        assert_eq!(super::area(2, 3), 6);\n    }\n}\n",
    "area_test.go": 'package area\n\nimport "testing"\n\nfunc TestArea(t *testing.T) {\n\tif got := Area(2, 3); got != 6 {\n\t\tt.Error(got)\n\t}\n}\n',
    "test_area.c": "#include <assert.h>\nint main(void) {\n    assert(area(2, 3) == 6);\n    return 0;\n}\n",
    "tests/test_area.py": "from area import area\n\n\ndef test_area():\n    assert area(2, 3) == 6\n",
    "area.test.js": "test('area', () => {\n  assert.equal(area(2, 3), 6);\n});\n",
}


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("tests/area.rs", "test_0"),
        ("src/lib.rs", "inside"),
        ("area_test.go", "TestArea"),
        ("test_area.c", "main"),
        ("tests/test_area.py", "test_area"),
        ("area.test.js", "area"),
    ],
)
def test_a_test_is_found_and_can_be_made_wrong(path: str, test: str) -> None:
    read = {name: text.encode() for name, text in FILES.items()}.get

    found = defined_tests(FILES, read)

    assert f"{path}::{test}" in found
    answers = wrong_answers(path, FILES[path].encode(), f"{path}::{test}", seed=3, read=read)
    assert {answer.kind for answer in answers} - {"near"} == {"literal"}
    assert answers[0].halted is not None


def test_products_define_no_tests() -> None:
    files = {
        "main.c": "int main(void) { return 0; }\n",
        "area.py": "def test_drive():\n    pass\n",
        "lib.rs": "fn test() {}\n",
    }

    assert not defined_tests(files, {name: text.encode() for name, text in files.items()}.get)
