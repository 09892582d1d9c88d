"""Which files judge follows from what they hold and what loads them, not from their names alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.integrity.closure import closure_of_tests as closure

CASE = "import unittest\n\nclass Base(unittest.TestCase):\n    def same(self, a, b):\n        self.assertEqual(a, b)\n"
PRODUCT = "def price(n):\n    return n\n"
USES_BASE = (
    "from shop.harness import Base\nfrom shop.prices import price\n\nclass T(Base):\n    def test_it(self): ...\n"
)


def judging(files: dict[str, str], *tests: str) -> frozenset[str]:
    return closure(tests, files, files.get)


@pytest.mark.parametrize(
    ("files", "tests", "found"),
    [
        pytest.param(
            {"shop/prices.py": PRODUCT, "shop/tests.py": "from .prices import price\nclass T(TestCase): ...\n"},
            ["shop.tests.T.test_it"],
            {"shop/tests.py"},
            id="the module of a test case, by its dotted id",
        ),
        pytest.param(
            {"shop.py": PRODUCT, "check_shop.py": "import shop\ndef test_it(): assert shop.price(1) == 1\n"},
            ["check_shop.py::test_it"],
            {"check_shop.py"},
            id="a file that pytest is told to collect",
        ),
        pytest.param(
            {"shop.py": PRODUCT, "cases.yaml": "- 1\n"},
            ["cases.yaml::one"],
            {"cases.yaml"},
            id="a table of cases that a plug-in collects",
        ),
        pytest.param(
            {"shop/prices.py": PRODUCT, "shop/harness.py": CASE, "tests/test_it.py": USES_BASE},
            [],
            {"shop/harness.py"},
            id="a base class of test cases",
        ),
        pytest.param(
            {"app.py": PRODUCT, "same.py": "def same(a, b):\n    assert a == b, (a, b)\n"}
            | {"test_app.py": "from app import price\nfrom same import same\n"},
            [],
            {"same.py"},
            id="functions that only assert",
        ),
        pytest.param(
            {"app.py": PRODUCT, "wiring.py": PRODUCT, "conftest.py": "pytest_plugins = ['wiring']\n"},
            [],
            {"wiring.py"},
            id="what pytest_plugins names",
        ),
        pytest.param(
            {"go.mod": "module x.org/m\n", "sum.go": "package m\n", "internal/kit/kit.go": 'import "testing"\n'}
            | {"sum_test.go": 'import (\n\t"testing"\n\t"x.org/m/internal/kit"\n)\n'},
            [],
            {"internal/kit/kit.go"},
            id="a Go package that helps tests",
        ),
        pytest.param(
            {
                "src/lib.rs": "pub mod sum;\n#[cfg(test)]\nmod tests;\n",
                "src/sum.rs": "",
                "src/tests.rs": "use super::*;",
            },
            [],
            {"src/tests.rs"},
            id="a Rust module compiled for tests only",
        ),
        pytest.param(
            {"sum.js": "", "same.js": "export const same = (a, b) => expect(a).toBe(b);\n"}
            | {"sum.test.js": "import { same } from './same.js';\nimport { sum } from './sum.js';\n"},
            [],
            {"same.js"},
            id="an assertion of JavaScript",
        ),
        pytest.param(
            {"sum.h": "int sum(int, int);\n", "mini.h": "#define check_equal(a, b) if ((a) != (b)) fail()\n"}
            | {"tests/sum.c": '#include "../mini.h"\n#include "../sum.h"\n'},
            [],
            {"mini.h"},
            id="an assertion of C",
        ),
    ],
)
def test_what_only_tests_load_and_what_is_collected_judges(
    files: dict[str, str], tests: list[str], found: set[str]
) -> None:
    assert judging(files, *tests) == found


@pytest.mark.parametrize(
    ("files", "tests"),
    [
        pytest.param(
            {"solution.py": f"{PRODUCT}\ndef test_price(): assert price(1) == 1\n"},
            ["solution.py::test_price"],
            id="a product that holds its own tests",
        ),
        pytest.param({"shop.py": PRODUCT, "README.md": ">>> 1\n1\n"}, ["README.md::README.md"], id="documentation"),
        pytest.param(
            {
                "shop/__init__.py": "from shop.harness import Base\n",
                "shop/harness.py": CASE,
                "tests/test_it.py": USES_BASE,
            },
            [],
            id="a test case that the product offers",
        ),
        pytest.param(
            {"shop/harness.py": CASE, "tests/test_it.py": USES_BASE}
            | {"pyproject.toml": "[project.entry-points.pytest11]\nshop = 'shop.harness'\n"},
            [],
            id="a plug-in of pytest",
        ),
        pytest.param(
            {"shop/prices.py": f"{PRODUCT}    assert n\n", "tests/test_it.py": "from shop.prices import price\n"},
            [],
            id="a product that asserts",
        ),
        pytest.param(
            {"app.py": PRODUCT, "conftest.py": "pytest_plugins = ['app']\n", "test_app.py": "from app import price\n"},
            [],
            id="a plug-in that tests test",
        ),
        pytest.param(
            {"src/lib.rs": "pub mod sum;\n", "src/sum.rs": "pub fn f() { assert!(true); }", "tests/a.rs": "mod other;"},
            [],
            id="a Rust module that asserts",
        ),
    ],
)
def test_the_product_does_not(files: dict[str, str], tests: list[str]) -> None:
    assert judging(files, *tests) == frozenset()


@given(st.lists(st.text(alphabet="from import. (),\n\"'#{}mod;usetests/", max_size=80), max_size=6))
def test_any_text_can_be_read(texts: list[str]) -> None:
    names = ["tests/test_a.py", "a.py", "b.go", "src/lib.rs", "c.js", "d.h"]
    files = dict(zip(names, texts, strict=False))
    assert judging(files, "a.py::test", "b", "::", "src.lib.x") <= files.keys()
