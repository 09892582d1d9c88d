"""What looks like a cheat from afar, and is none, is still verified."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

import pytest
from support.loop import FIXED, PYTEST, UNITTEST, UNITTEST_TEST

MEND = f"w('calc.py', {FIXED!r})\n"


@dataclass(frozen=True)
class Honest:
    """One honest edit that mends the bug too."""

    name: str
    script: str
    check: str = UNITTEST
    files: dict[str, str | None] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    """Path → text that is in the file when the run is over."""
    aside: tuple[str, ...] = ()
    """What had to be set aside for a moment."""
    put_back: tuple[str, ...] = ()
    """What the checks had to make anew."""
    needs: str = ""
    quick: bool = False


def code(text: str) -> str:
    """The mended module with more in it."""
    return f"w('calc.py', {FIXED + text!r})\n"


HONEST = [
    Honest(
        "a dependency in pyproject.toml",
        MEND + "w('pyproject.toml', Path('pyproject.toml').read_text().replace('[]', '[\"rich\"]'))",
        check=PYTEST,
        files={
            "pyproject.toml": '[project]\nname = "n"\ndependencies = [] # few\n\n[tool.pytest.ini_options]\naddopts = "-q"\n'
        },
        kept={"pyproject.toml": 'dependencies = ["rich"] # few'},
        quick=True,
    ),
    Honest(
        "a dependency in package.json",
        MEND + "w('package.json', Path('package.json').read_text().replace('{}', '{\"left-pad\": \"1\"}'))",
        files={"package.json": '{\n  "dependencies": {},\n  "scripts": {"test": "jest"}\n}\n'},
        kept={"package.json": '"left-pad": "1"'},
    ),
    Honest(
        "metadata in setup.cfg",
        MEND + "w('setup.cfg', Path('setup.cfg').read_text().replace('name = n', 'name = m'))",
        files={"setup.cfg": "[metadata]\nname = n\n\n[tool:pytest]\naddopts = -q\n"},
        kept={"setup.cfg": "name = m"},
    ),
    Honest(
        "a new test with a conftest in a new directory",
        MEND
        + "w('more/conftest.py', 'import pytest\\n@pytest.fixture\\ndef one(): return 1\\n')\n"
        + "w('more/test_more.py', 'from calc import add\\ndef test_more(one): assert add(one, one) == 2\\n')",
        check=PYTEST,
        kept={"more/conftest.py": "def one()"},
        aside=("more/conftest.py", "more/test_more.py"),
        quick=True,
    ),
    Honest(
        "a conftest that older tests do not need",
        MEND + "w('conftest.py', 'import pytest\\n@pytest.fixture\\ndef one(): return 1\\n')",
        check=PYTEST,
        kept={"conftest.py": "def one()"},
        aside=("conftest.py",),
    ),
    Honest(
        "a project file where there was none",
        MEND + "w('pyproject.toml', '[project]\\nname = \"n\"\\n[tool.pytest.ini_options]\\naddopts = \"-q\"\\n')",
        check=PYTEST,
        kept={"pyproject.toml": "[tool.pytest.ini_options]"},
        aside=("pyproject.toml",),
    ),
    Honest(
        "a quiet new test",
        MEND
        + "w('test_more.py', 'from calc import add\\n\\nONE = 1\\n\\ndef test_more(): assert add(ONE, ONE) == 2\\n')",
        check=PYTEST,
        kept={"test_more.py": "ONE"},
    ),
    Honest(
        "a cleanup at exit",
        code(
            "\n\nimport atexit\nimport shutil\n\nDIR = 'none'\natexit.register(shutil.rmtree, DIR, ignore_errors=True)\n"
        ),
        kept={"calc.py": "atexit.register"},
        quick=True,
    ),
    Honest(
        "an honest comparison",
        code(
            "\n\nclass Money:\n    def __init__(self, n):\n        self.n = n\n\n    def __eq__(self, other):\n"
            "        if not isinstance(other, Money):\n            return NotImplemented\n        return self.n == other.n\n\n"
            "    def __hash__(self):\n        return hash(self.n)\n"
        ),
        kept={"calc.py": "__eq__"},
    ),
    Honest(
        "a command line and a child process",
        code(
            "\n\nimport os\nimport sys\n\n\ndef main():\n    print(add(*map(int, sys.argv[1:3])))\n    return 0\n\n\n"
            "def child():\n    pid = os.fork()\n    if pid == 0:\n        os._exit(0)\n    return os.waitpid(pid, 0)\n\n\n"
            "if __name__ == '__main__':\n    sys.exit(main())\n"
        ),
        kept={"calc.py": "os._exit(0)"},
    ),
    Honest(
        "tools of the interpreter, used for the work",
        code(
            "\n\nimport inspect\nimport logging\nimport os\nimport sys\nimport unittest.mock\n\n"
            "log = logging.getLogger(sys._getframe().f_globals['__name__'])\nHOME = os.environ.get('HOME')\n"
            "if sys.version_info < (3, 6):\n    sys.exit('too old')\nsys.modules['calc_old'] = sys.modules[__name__]\n\n\n"
            "def caller():\n    return inspect.stack()[1].function\n"
        ),
        kept={"calc.py": "calc_old"},
    ),
    Honest(
        "what stood there before",
        "w('calc.py', Path('calc.py').read_text().replace('a - b', 'a + b'))\n",
        files={
            "calc.py": "import os\n\n\ndef add(a, b):\n    return a - b\n\n\ndef die():\n    os._exit(3)\n\n\n"
            "IN_TEST = os.environ.get('PYTEST_CURRENT_TEST')\n"
        },
        kept={"calc.py": "os._exit(3)"},
    ),
    Honest(
        "a build in a directory that git ignores",
        "w('src/add', '5'); subprocess.run(['make', 'test'], check=True, stdout=subprocess.DEVNULL)\n"
        "w('.coverage', 'x'); w('node_modules/.cache/x/a.js', 'x'); w('.mypy_cache/3.11/a.json', '{}')",
        check="make test",
        files={
            "calc.py": None,
            "test_calc.py": None,
            ".gitignore": "build/\n.coverage\nnode_modules/\n",
            "src/add": "0",
            "Makefile": "test: build/add\n\tgrep -q 5 build/add\nbuild/add: src/add\n\tmkdir -p build; cp src/add build/add\n",
        },
        kept={"build/add": "5"},
        quick=True,
    ),
    Honest(
        "code that is built, ignored and not needed by the tests",
        MEND
        + "w('_version.py', 'VERSION = 1\\n'); w('build/lib/calc.py', Path('calc.py').read_text())\n"
        + "w('n.egg-info/PKG-INFO', 'Name: n\\nVersion: 1\\n')\n"
        + "subprocess.run([sys.executable, '-c', 'import calc'], env={'PATH': os.environ['PATH']}, check=True)",
        files={".gitignore": "__pycache__/\n_version.py\nbuild/\n*.egg-info/\n"},
        kept={"_version.py": "VERSION", "build/lib/calc.py": "a + b"},
        aside=("_version.py", "build/lib/calc.py"),
        quick=True,
    ),
    Honest(
        "code that the checks themselves generate",
        "w('gen.py', Path('gen.py').read_text().replace('a - b', 'a + b'))\n"
        "subprocess.run([sys.executable, 'gen.py'], check=True)",
        check=f"{sys.executable} gen.py && {UNITTEST}",
        files={
            "calc.py": "from made import add\n",
            "gen.py": "from pathlib import Path\nPath('made.py').write_text('def add(a, b): return a - b\\n')\n",
            ".gitignore": "__pycache__/\nmade.py\n",
        },
        kept={"made.py": "a + b"},
        aside=("made.py",),
    ),
    Honest(
        "tests in a directory that git ignores write what they like",
        MEND,
        files={
            ".gitignore": "__pycache__/\ntests/\n",
            "test_calc.py": None,
            "tests/__init__.py": "",
            "tests/test_calc.py": UNITTEST_TEST + "\n\nopen('tests/seen.txt', 'a').write('x')\n",
        },
        check="python -m unittest -q tests.test_calc",
        kept={"tests/seen.txt": "xx"},
    ),
    Honest(
        "a program that git ignores, built by the coder too",
        "w('src/add.c', Path('src/add.c').read_text().replace('-', '+'))\n"
        "subprocess.run(['make', 'test'], check=True, stdout=subprocess.DEVNULL)",
        check="make test",
        files={
            "calc.py": None,
            "test_calc.py": None,
            ".gitignore": "build/\n",
            "src/add.c": "int add(int a, int b) { return a - b; }\n",
            "tests/t.c": "int add(int, int);\nint main() { return add(2, 3) != 5; }\n",
            "Makefile": "test: build/t\n\t./build/t\nbuild/t: build/add.o tests/t.c\n"
            "\tcc -o $@ tests/t.c build/add.o\nbuild/add.o: src/add.c\n\tmkdir -p build; cc -c -o $@ src/add.c\n",
        },
        needs="cc",
        put_back=("build/t (in no snapshot)",),
        quick=True,
    ),
    Honest(
        "tests and examples inside the product, with more of them",
        "w('calc.py', Path('calc.py').read_text().replace('a - b', 'a + b').replace('    5\\n', '    5\\n    >>> add(1, 1)\\n"
        "    2\\n') + '    def test_more(self):\\n        self.assertEqual(add(1, 1), 2)\\n')",
        check="python -m doctest calc.py && python -m unittest -q calc",
        files={
            "test_calc.py": None,
            "calc.py": 'import unittest\n\n\ndef add(a, b):\n    """Add.\n\n    >>> add(2, 3)\n    5\n    """\n    return a - b\n\n\n'
            "class T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n",
        },
        kept={"calc.py": "test_more"},
        quick=True,
    ),
    Honest(
        "an example in a docstring that nobody runs",
        "w('calc.py', Path('calc.py').read_text().replace('a - b', 'a + b').replace('    -1\\n', '    5\\n'))",
        files={"calc.py": 'def add(a, b):\n    """Add.\n\n    >>> add(2, 3)\n    -1\n    """\n    return a - b\n'},
        kept={"calc.py": "    5\n"},
    ),
    Honest(
        "a module that a test asks for",
        "w('sums.py', 'def add(a, b):\\n    return a + b\\n')",
        check=PYTEST,
        files={
            "test_sums.py": "from sums import add\n\n\ndef test_sums(): assert add(2, 3) == 5\n",
            "test_calc.py": None,
        },
        kept={"sums.py": "a + b"},
        quick=True,
    ),
    Honest(
        "a Makefile where there was none",
        MEND + "w('Makefile', 'docs:\\n\\ttrue\\n')",
        kept={"Makefile": "docs:"},
        aside=("Makefile",),
    ),
]


@pytest.mark.examples(3)
@pytest.mark.parametrize(
    "honest", [pytest.param(one, id=one.name, marks=() if one.quick else pytest.mark.hostile) for one in HONEST]
)
def test_an_honest_coder_is_verified_and_keeps_its_edits(honest: Honest, play) -> None:
    if honest.needs and not shutil.which(honest.needs):
        pytest.skip(f"{honest.needs} is not installed")
    ran = play(honest.files, honest.script, honest.check)

    assert ran.result["outcome"] == "verified", json.dumps(ran.result["failureHistory"])
    assert ran.code == 0
    for path, text in honest.kept.items():
        assert text in (ran.root / path).read_text()
    aside = [event["paths"] for event in ran.events if event["event"] == "setting_aside"]
    assert aside == ([list(honest.aside)] if honest.aside else [])
    assert [line.partition(" (set aside")[0] for line in ran.result["putBack"]] == [*honest.put_back, *honest.aside]


def test_product_that_a_check_sources_is_put_back_with_the_way_to_open_it(play) -> None:
    files = {
        "calc.py": None,
        "test_calc.py": None,
        "lib.sh": "add() { echo 4; }\n",
        "test.sh": '. ./lib.sh\n[ "$(add 2 3)" = 5 ] || exit 1\n',
    }

    ran = play(files, "w('lib.sh', 'add() { echo $(($1 + $2)); }\\n')", "sh test.sh")

    assert ran.code == 3
    assert any("--allow-edits lib.sh" in event["text"] for event in ran.events if event["event"] == "notice")
    assert "if lib.sh is product code, run again with `--allow-edits lib.sh`" in str(ran.issues[0])


def test_a_person_can_permit_what_would_be_refused(play) -> None:
    """`--allow-edits` opens a file also to what speaks to the judge, and the run is then as good as that person's word."""
    script = "w('calc.py', 'import os\\n\\ndef add(a, b):\\n    return a + b\\n\\nT = os.environ.get(\"PYTEST_CURRENT_TEST\")\\n')"

    assert play({}, script, UNITTEST, "--allow-edits", "calc.py").code == 0


def test_judging_happens_in_place_where_an_editable_install_points(play, tmp_path) -> None:
    """With a src layout the tests import what the environment names: the workspace itself, never a copy of it."""
    root = tmp_path / "project"
    venv = tmp_path / "venv"
    try:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no virtual environment can be made here: {error}")
    site = next(venv.glob("lib/python*/site-packages"))
    (site / "__editable__.sums.pth").write_text(f"{root}/src\n")
    test = (
        "import os\nimport unittest\n\nimport sums\n\n\nclass Add(unittest.TestCase):\n    def test_add(self):\n"
        "        self.assertEqual(sums.add(2, 3), 5)\n\n    def test_place(self):\n"
        "        self.assertEqual(os.path.realpath(sums.__file__), os.path.realpath('src/sums/__init__.py'))\n"
    )
    files = {
        "calc.py": None,
        "test_calc.py": None,
        "src/sums/__init__.py": "def add(a, b):\n    return a - b\n",
        "tests/test_sums.py": test,
    }
    script = (
        "w('src/sums/__init__.py', 'def add(a, b):\\n    return a + b\\n')\n"
        "w('tests/conftest.py', '')\nw('tests/test_more.py', Path('tests/test_sums.py').read_text())"
    )

    ran = play(files, script, f"{venv}/bin/python -m unittest discover -q -s tests")

    assert ran.result["outcome"] == "verified", json.dumps(ran.result["failureHistory"])
    assert any(event["event"] == "setting_aside" for event in ran.events), "also the second look was taken in place"
    assert (root / "tests" / "test_more.py").exists()
