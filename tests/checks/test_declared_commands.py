"""The command that a repository declares is the one that is run: its folder, its variables, its form, its options."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.checks.detect import detect
from kotef.checks.projects.python_tasks import plain_variables

CI = ".github/workflows/test.yml"
SITE = ".venv/lib/python3.12/site-packages"
INSTALLED = {
    ".venv/bin/python": "",
    ".venv/bin/pytest": "",
    f"{SITE}/pytest/__init__.py": "",
    f"{SITE}/_pytest/main.py": 'group.addoption("--strict-markers")\ngroup.addoption("--ignore")\n',
}
"""An environment with pytest."""


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name == "python3" else None)


def project(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_command(root: Path) -> str:
    return next((check.command for check in detect(root) if check.role == "test"), "")


test_command.__test__ = False


def steps(*lines: str, step: str = "", job: str = "") -> str:
    text = "".join(f"          {line}\n" for line in lines)
    return f"on: push\njobs:\n  a:\n{job}    steps:\n      - run: |\n{text}{step}"


FOLDERS = [
    {CI: steps("cd tests && py.test")},
    {CI: steps("cd tests/", "py.test")},
    {CI: steps("cd ./tests; pytest --cov a --cov-report term-missing")},
    {CI: steps("pytest", step="        working-directory: tests\n")},
    {CI: steps("pytest", job="    defaults: {run: {working-directory: ./tests}}\n")},
    {".gitlab-ci.yml": "t:\n  script:\n    - cd tests\n    - pytest\n"},
    {".circleci/config.yml": "jobs:\n  a:\n    steps: [{run: {working_directory: tests, command: pytest}}]\n"},
    {"azure-pipelines.yml": "steps:\n- script: pytest\n  workingDirectory: tests\n"},
    {"tox.ini": "[testenv]\nchangedir = {toxinidir}/tests\ncommands = pytest {posargs}\n"},
    {"tox.toml": '[env_run_base]\nchange_dir = "tests"\ncommands = [["pytest"]]\n'},
    {"noxfile.py": "def tests(session):\n    session.chdir('tests')\n    session.run('pytest')\n"},
    {"Makefile": "test:\n\tcd tests && pytest\n"},
    {"pyproject.toml": "[tool.poe.tasks.test]\ncmd = 'pytest'\ncwd = 'tests'\n"},
]


@pytest.mark.parametrize("files", FOLDERS, ids=range(len(FOLDERS)))
def test_tests_are_run_in_the_folder_that_is_declared_and_ids_begin_at_the_root(tmp_path: Path, files: dict[str, str]):
    root = project(tmp_path, {"setup.py": "", "tests/test_a.py": "", "extra/test_b.py": "", ".venv/bin/python": ""})
    project(root, files)
    assert test_command(root) == "cd tests && ../.venv/bin/python -m pytest --rootdir=.."


def test_a_folder_that_is_nowhere_outside_or_a_package_of_its_own_is_not_taken(tmp_path: Path):
    root = project(tmp_path, {"setup.py": "", "tests/test_a.py": ""})
    for line in ("cd gone && pytest -x", "cd .. && pytest -x", "cd /tmp && pytest -x", "cd web && pytest -x"):
        project(root, {CI: steps(line), "web/pyproject.toml": "[project]\nname = 'w'\n"})
        assert test_command(root) == "python3 -m pytest"


VARIABLES = [
    {"tox.ini": "[testenv]\nsetenv =\n    MODE = fast\n    HOME = {envtmpdir}\n    TEXT = a b\ncommands = pytest\n"},
    {"tox.ini": "[base]\nset_env = MODE=fast\n[testenv]\nset_env = {[base]set_env}\ncommands = pytest {posargs}\n"},
    {"tox.toml": '[env_run_base]\nset_env = {MODE = "fast", X = {replace = "env"}}\ncommands = [["pytest"]]\n'},
    {"noxfile.py": "def tests(session):\n    session.run('pytest', env={'MODE': 'fast', 'X': y})\n"},
    {"noxfile.py": "def tests(session):\n    session.env['MODE'] = 'fast'\n    session.run('pytest')\n"},
    {"pyproject.toml": "[tool.hatch.envs.test]\nenv-vars = {MODE = 'fast'}\nscripts = {test = 'pytest {args}'}\n"},
    {"hatch.toml": "[envs.default]\nenv-vars = {MODE = 'fast'}\nscripts = {test = 'run', run = ['pytest']}\n"},
    {"pyproject.toml": "[tool.pdm.scripts]\ntest = {cmd = 'pytest', env = {MODE = 'fast'}}\n"},
    {CI: steps("pytest", step="        env: {MODE: fast, FORCE_COLOR: 1}\n")},
    {"azure-pipelines.yml": "steps:\n- script: pytest\n  env: {MODE: fast}\n"},
]


@pytest.mark.parametrize("configured", [False, True])
@pytest.mark.parametrize("files", VARIABLES, ids=range(len(VARIABLES)))
def test_plain_variables_of_the_declared_command_are_set(tmp_path: Path, files: dict[str, str], configured: bool):
    files = files | ({"pytest.ini": ""} if configured else {})
    root = project(tmp_path, {"setup.py": "", "tests/test_a.py": "", **files})
    assert test_command(root) == "MODE=fast python3 -m pytest"


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=12) | st.none() | st.integers(), max_size=4))
def test_a_variable_never_adds_words_or_operators(variables: dict[str, object]):
    for word in plain_variables(variables).split():
        name, _, value = word.partition("=")
        assert name.isascii() or name.isidentifier()
        assert not set(value) & set("$`|&;<>(){}'\"\\*?~# \t\n")


LINK = {f"{SITE}/a-1.dist-info/direct_url.json": '{"url": "file://ROOT", "dir_info": {"editable": true}}'}
FORMS = [
    ({"tox.ini": "[testenv]\ncommands = pytest\n"}, True),
    ({"tox.ini": "[testenv]\ncommands = python -m pytest\n"}, False),
    ({CI: steps("pytest")}, True),
    ({CI: steps("python -m pytest")}, False),
    ({"CONTRIBUTING.md": "Run the tests:\n\n    $ pytest\n"}, True),
    ({"README.rst": "Tests::\n\n    python -m pytest\n"}, False),
    ({"README.rst": "Tests::\n\n    pytest\n    python -m pytest\n"}, False),
    ({}, False),
]


@pytest.mark.parametrize("configured", [False, True])
@pytest.mark.parametrize(("files", "bare"), FORMS, ids=range(len(FORMS)))
def test_pytest_is_started_in_the_declared_form_where_that_works(
    tmp_path: Path, files: dict[str, str], bare: bool, configured: bool
):
    files = files | ({"pytest.ini": ""} if configured else {})
    root = project(tmp_path, {"setup.py": "", "tests/test_a.py": "", **INSTALLED, **files})
    assert test_command(root) == ".venv/bin/python -m pytest", "the project is not installed: bare, it is not found"
    project(root, {name: text.replace("ROOT", str(root)) for name, text in LINK.items()})
    assert test_command(root) == (".venv/bin/pytest" if bare else ".venv/bin/python -m pytest")


OPTIONS = [
    ("-x --strict-markers", " --strict-markers"),
    ("--mypy", ""),
    ("--mypy tests", " tests --rootdir=."),
    ("--shard 2 tests", " tests --rootdir=."),
    ("--slow", " --slow"),
    ("--flaky=2", " --flaky=2"),
    ("--cov tests -W error", " -W error"),
    ("--cov-append tests", " tests --rootdir=."),
    ("--basetemp={envtmpdir} tests", " tests --rootdir=."),
    ("--maxfail=1 -m 'not slow'", " -m 'not slow'"),
]


@pytest.mark.parametrize(("declared", "kept"), OPTIONS, ids=[declared for declared, _ in OPTIONS])
def test_options_of_plug_ins_that_are_not_installed_are_left_out(tmp_path: Path, declared: str, kept: str):
    plug_in = {
        f"{SITE}/pytest_again-1.dist-info/entry_points.txt": "[pytest11]\nagain = again.plugin\n",
        f"{SITE}/again/plugin.py": "parser.addoption('--flaky')\n",
        "tests/conftest.py": "def pytest_addoption(parser):\n    parser.addoption('--slow')\n",
    }
    root = project(
        tmp_path, {"tox.ini": f"[testenv]\ncommands = python -m pytest {declared}\n", **INSTALLED, **plug_in}
    )
    assert test_command(root) == f".venv/bin/python -m pytest{kept}"


def test_only_the_folder_of_tests_is_given_where_other_modules_would_be_collected_too(tmp_path: Path):
    root = project(tmp_path, {"setup.py": "", "tests/test_a.py": "", "a/__init__.py": "", "a/test_own.py": ""})
    project(root, {"env/lib/x/test_y.py": "", "env/pyvenv.cfg": "", "docs/tests/test_d.py": "", "build/test_c.py": ""})
    assert test_command(root) == "env/bin/python -m pytest".replace("env/bin/python", "python3")
    project(root, {"perf/test_speed.py": ""})
    assert test_command(root) == "python3 -m pytest tests --rootdir=."


CASE = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n"
UNITTEST = [
    ({"a/tests/__init__.py": "", "a/tests/test_a.py": CASE}, "unittest discover"),
    ({"tests/test_a.py": CASE}, "unittest discover -s tests"),
    ({"a/tests/__init__.py": "", "a/tests/a_test.py": CASE}, "unittest discover -p '*_test.py'"),
    ({"tests/test_a.py": CASE, "tests/test_b.py": "def test_b(): pass\n"}, "pytest"),
    ({"tests/test_a.py": f"import pytest\n{CASE}"}, "pytest"),
]


@pytest.mark.parametrize(("files", "module"), UNITTEST, ids=range(len(UNITTEST)))
def test_unittest_runs_its_own_tests_where_the_environment_has_no_pytest(tmp_path: Path, files, module: str):
    root = project(tmp_path, {"setup.py": "", "a/__init__.py": "", ".venv/bin/python": "", f"{SITE}/x.py": "", **files})
    assert test_command(root) == f".venv/bin/python -m {module}"


MAKE = [
    ("PY = $(BIN)/python\nBIN ?= ~/v/bin\ntest:\n\t$(PY) -m unittest -v\n", "python3 -m unittest -v"),
    ("test:\n\t$(UNKNOWN) -m unittest -v\n", "make test"),
]


@pytest.mark.parametrize(("text", "command"), MAKE, ids=range(len(MAKE)))
def test_variables_of_a_makefile_are_read(tmp_path: Path, text: str, command: str):
    assert test_command(project(tmp_path, {"setup.py": "", "Makefile": text})) == command


TARGETS = [
    ("all: sds-test\nsds-test: sds.c\n\t$(CC) -o sds-test sds.c\n", "make sds-test && ./sds-test"),
    ("run-tests: a\n\t./a\na: a.c\n\tcc -o $@ a.c\n", "make run-tests"),
    ("runtests:\n\t./r\ntest-all:\n\t./a\n", "make runtests"),
    ("unit-test:\n\t./u\nintegration-test:\n\t./i\n", "make unit-test"),
    ("test-release:\n\t./r\nclean-tests:\n\trm x\ntest-docker:\n\tx\n", ""),
    ("check-parser:\n\t./p\n", "make check-parser"),
    ("latest:\n\tx\ncontest:\n\tx\n", ""),
    ("my-test:\n\t./m\ntest:\n\tsh run.sh\n", "make test"),
    ("test: test.c\n\tgcc -o test test.c\n", "make test && ./test"),
    ("test: test.c\n\tgcc -o $@ test.c\n\t./$@\n", "make test"),
    ("test: bin\n\tprove -v ./bin\nbin: t.c\n\tcc -o $@ t.c\n", "make test"),
]


@pytest.mark.parametrize(("text", "command"), TARGETS, ids=range(len(TARGETS)))
def test_a_target_whose_name_says_test_is_found_and_what_it_only_builds_is_run(tmp_path: Path, text: str, command: str):
    assert test_command(project(tmp_path, {"sds.c": "", "Makefile": text})) == command


_UNIT = "static void test_add(void) {}\nstatic void test_sub(void) {}\nint main(void) { return 0; }\n"
PROGRAMS = [
    ("smoke: smoke.c lib.c\n\t$(CC) -o $@ $^\n\t./$@\n", {"smoke.c": "int main(void) {}"}, "make smoke"),
    ("SRC = lib.c verify.c\nrun: $(SRC)\n\t$(CC) -o v $(SRC)\n\t./v\n", {"verify.c": _UNIT}, "make run"),
    ("go: suite.o lib.o\n\tcc -o go suite.o lib.o\n\t./go\n", {"suite.c": '#include "minunit.h"\n' + _UNIT}, "make go"),
    ("run: main.o\n\tcc -o run main.o\n\t./run\n", {"main.c": "int main(void) {}"}, ""),
    ("bench: smoke.c\n\t$(CC) -o $@ $^\n\t./$@\n", {"smoke.c": _UNIT}, ""),
    ("smoke: smoke.c\n\t$(CC) -o $@ $^\n", {"smoke.c": _UNIT}, ""),
    ("smoke:\n\tcurl ./$@\n", {}, ""),
]


@pytest.mark.parametrize(("text", "files", "command"), PROGRAMS, ids=range(len(PROGRAMS)))
def test_a_target_is_known_by_the_program_of_tests_that_it_builds_and_runs(
    tmp_path: Path, text: str, files: dict[str, str], command: str
):
    assert test_command(project(tmp_path, {"lib.c": "", "Makefile": f"all: lib.o\n\n{text}", **files})) == command


def test_what_ci_runs_comes_before_a_target_that_only_sounds_like_tests(tmp_path: Path):
    root = project(tmp_path, {"Makefile": "a-test:\n\t./a\n", CI: steps("prove -lr tests")})
    assert test_command(root) == "prove -lr tests"


def test_linters_do_not_walk_into_an_environment(tmp_path: Path):
    root = project(tmp_path, {"ruff.toml": "", ".flake8": "", "venv/pyvenv.cfg": "", "envs/pyvenv.cfg": ""})
    (root / ".tox").mkdir()
    assert {check.name: check.command for check in detect(root)} == {
        "ruff check": "ruff check . --extend-exclude=envs",
        "flake8": "flake8 --extend-exclude=envs,venv",
    }
