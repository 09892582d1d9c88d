"""Which new files could speak for tests other than their own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.integrity.runner_config_files import (
    absent_modules,
    is_quiet,
    replaces_installed,
    shadowing_files,
    shadows,
    steering_files,
    top_imports,
)

BASELINE = ("calc.py", "tests/test_calc.py", "pkg/__init__.py", "pkg/core.py")


def steering(
    *paths: str, text: str = "", allow: tuple[str, ...] = (), commands: tuple[str, ...] = ()
) -> tuple[str, ...]:
    return steering_files([(path, text) for path in paths], baseline=BASELINE, commands=commands, allow=allow)


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py", "tests/deep/conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", "tox.ini", "GNUmakefile",
        "makefile", "sitecustomize.py", "usercustomize.py", "x.pth", "pytest.py", "_pytest/__init__.py", "unittest/__init__.py",
        "src/pluggy.py", "coverage/__init__.py", "xdist.py", "hypothesis.py", "argparse.py", "tests/difflib.py", "re/__init__.py",
        "jest.config.js", "vitest.config.ts", ".mocharc.json", ".eslintrc", "ruff.toml", "mypy.ini", ".npmrc", "babel.config.js",
        "pytest.cpython-311-x86_64-linux-gnu.so", "pytest.pyc", ".cargo/config.toml",
    ],
)  # fmt: skip
def test_what_configures_or_shadows_a_runner_is_set_aside(path: str):
    assert steering(path) == (path,)


@pytest.mark.parametrize(
    "path",
    ["new.py", "pkg/argparse.py", "pkg/types.py", "docs/conf.py", "tests/test_new.py", "tests/data.json", "README.md",
     ".github/workflows/x.yml", "mypkg/pytest_helpers.py", "a/b/queue.py", "insurance/coverage.py", "lab/trial.py", "pkg/doctest.py", ".sdd/backlog/x.md"],
)  # fmt: skip
def test_ordinary_new_files_are_not(path: str):
    assert steering(path) == ()


def test_new_test_modules_go_with_what_steers_but_their_data_stays():
    paths = ("tests/conftest.py", "tests/test_new.py", "tests/data.json", "new.py")

    assert steering(*paths) == ("tests/conftest.py", "tests/test_new.py")
    assert steering(*paths, allow=("tests/conftest.py",)) == ()


def test_entry_points_steer_only_where_they_name_a_plugin():
    assert steering("n.egg-info/entry_points.txt", text="[console_scripts]\nn = n:main\n") == ()
    assert steering("n.egg-info/entry_points.txt", text="[pytest11]\nn = n\n") == ("n.egg-info/entry_points.txt",)


def test_what_a_check_command_names_is_for_the_task_to_make():
    assert steering("mypy.ini", commands=("mypy --config-file mypy.ini src",)) == ()
    assert steering("mypy.ini", commands=("mypy src",)) == ("mypy.ini",)


def test_modules_with_the_name_of_others_are_told_apart():
    new = ["calendar.py", "src/coverage.py", "pkg/types.py", "conftest.py", "sitecustomize.py", "tests/mock.py"]

    assert shadowing_files(new, baseline=BASELINE, commands=()) == ("calendar.py", "src/coverage.py", "tests/mock.py")


def test_a_module_that_hides_one_that_is_still_there_is_set_aside():
    files = [("shop/prices/__init__.py", "")]
    known = {"baseline": {*BASELINE, "shop/prices.py"}, "commands": (), "allow": ()}

    assert steering_files(files, **known) == ("shop/prices/__init__.py",)
    assert steering_files(files, gone={"shop/prices.py"}, **known) == ()


def test_the_command_tells_import_roots():
    assert shadows("lib/queue.py", {"lib"})
    assert steering("app/queue.py", commands=("PYTHONPATH=./app python -m pytest",)) == ("app/queue.py",)


QUIET = [
    "import pytest\nfrom calc import add\n\nONE: int = 1\npytestmark = pytest.mark.slow\n\ndef test_a(monkeypatch):\n    x = {}\n    x['a'] = 1\n    assert add(1, 1) == 2\n",
    "import unittest\nimport calc\n\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.x = calc.add\n        self.d = {}\n        self.d['a'] = 1\n",
    "from unittest.mock import patch\nimport calc\n\n@patch('calc.add')\ndef test_a(add):\n    add.return_value = 1\n",
    "import os\nDATA = os.path.join(os.path.dirname(__file__), 'data')\n\ndef test_a():\n    assert open(DATA).read()\n",
    "try:\n    import numpy\nexcept ImportError:\n    numpy = None\n\nif __name__ == '__main__':\n    import unittest\n    unittest.main()\n",
]
LOUD = [
    "import calc\ncalc.add = None\n",
    "import calc\ndef test_a():\n    calc.add = None\n",
    "import calc\nc = calc\ndef test_a():\n    c.core.add = None\n",
    "import calc\ndef test_a():\n    calc.TABLE['a'] = 1\n",
    "import calc\ndef test_a():\n    del calc.add\n",
    "import calc\nfor calc.add in [None]: pass\n",
    "import _pytest\n",
    "from _pytest import runner\n",
    "import sys\ndef test_a():\n    sys.modules.clear()\n",
    "import os\ndef test_a():\n    os._exit(0)\n",
    "from os import _exit\n",
    "import sys\nsys.path.insert(0, 'x')\n",
    "def test_a():\n    setattr(1, 'a', 2)\n",
    "exec('x')\n",
    "print('hello')\n",
    "def load_tests(*_): pass\n",
    "pytest_plugins = ['x']\n",
    "from unittest.mock import patch\nimport calc\ndef test_a():\n    patch('calc.add').start()\n",
    "def test_a():\n    __import__('calc')\n",
    "def f(:\n",
]


@pytest.mark.parametrize("text", QUIET)
def test_a_test_that_only_tests_is_quiet(text: str):
    assert is_quiet("tests/test_a.py", text)


@pytest.mark.parametrize("text", LOUD)
def test_a_test_that_reaches_beyond_itself_is_not(text: str):
    assert not is_quiet("tests/test_a.py", text)


@pytest.mark.parametrize(
    ("path", "text", "quiet"),
    [
        ("a.test.js", "test('a', () => expect(add(1, 1)).toBe(2))", True),
        ("a.test.js", "process.exit(0)", False),
        ("a.test.js", "Array.prototype.map = null", False),
        ("a_test.go", "func TestA(t *testing.T) { t.Fatal() }", True),
        ("a_test.go", "func TestMain(m *testing.M) { os.Exit(0) }", False),
        ("a_spec.rb", "at_exit { exit! 0 }", False),
    ],
)
def test_other_languages_are_read_by_their_words(path: str, text: str, quiet: bool):
    assert is_quiet(path, text) is quiet


@given(st.text(max_size=60), st.sampled_from(["test_a.py", "a.test.ts"]))
def test_any_text_is_answered(text: str, path: str):
    assert is_quiet(path, text) in {True, False}


def replacing(*paths: str, absent: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Of the tests of the baseline one imports `yaml` and `calc`."""
    return replaces_installed(
        paths, baseline=BASELINE, commands=(), imported=lambda: {"yaml", "calc", "pkg"}, absent=absent
    )


def test_a_new_module_may_not_replace_an_installed_one_that_tests_use() -> None:
    assert replacing("yaml.py", "src/yaml/__init__.py", "tests/yaml.py") == ("yaml.py", "src/yaml/__init__.py")
    assert replacing("pkg/yaml.py", "other.py", "yaml.txt", "pkg/calc.py") == ()


def test_a_module_that_a_test_asked_for_may_come() -> None:
    assert replacing("yaml.py", absent=("yaml",)) == ()
    assert replacing("calc/__init__.py", "src/pkg.py") == (), "the workspace has these already"


def test_what_python_did_not_find_is_read_from_its_words() -> None:
    said = "E   ModuleNotFoundError: No module named 'sums'\n/usr/bin/python: No module named yaml"
    assert absent_modules([said, "No module named 'shop.cart'"]) == ("sums", "yaml")


def test_imports_are_found_anywhere_in_a_module() -> None:
    text = "import a.b\nfrom c import d\nfrom . import e\ndef f():\n    import g\n"
    assert top_imports(text) == {"a", "c", "g"}
    assert top_imports("def (") == frozenset()
