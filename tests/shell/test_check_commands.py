"""What a command line says about itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.shell.check_commands import (
    created_by_the_task,
    judging_files,
    programs_of,
    role_of,
    status_of_failing_tests,
    without_watch,
)


@pytest.mark.parametrize(
    ("command", "role"),
    [
        ("pytest -q", "test"), ("uv run --frozen python -m pytest", "test"), ("make test", "test"), ("npm test", "test"),
        ("bash -c 'go test ./...'", "test"), ("cargo test", "test"), ("ruff check .", "lint"), ("black --check .", "lint"),
        ("npm run lint", "lint"), ("mypy .", "types"), ("npm run typecheck", "types"), ("cargo build", "build"),
        ("python app.py", "other"), ("true", "other"), ("", "other"), ("'unclosed", "other"),
    ],
)  # fmt: skip
def test_the_role_is_that_of_the_unwrapped_program(command: str, role: str):
    assert role_of(command) == role


@pytest.mark.parametrize(
    ("command", "statuses"),
    [
        ("pytest -q", {1}), ("cd sub && pytest", {1}), ("make test", {1, 2}), ("tox", {1}), ("pytest 2>&1", {1}),
        ("pytest; mypy", set()), ("pytest && mypy .", set()), ("pytest | tee log", set()), ("pytest || true", set()),
        ("pytest &", {1}), ("", set()), ("set -e\npytest", set()),
    ],
)  # fmt: skip
def test_the_status_is_the_runners_only_where_nothing_else_can_set_it(command: str, statuses: set[int]):
    assert status_of_failing_tests(command) == statuses


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("./scripts/test.sh", ("scripts/test.sh",)), ("bash -e run.sh", ("run.sh",)), ("cd sub && ./t.sh", ("sub/t.sh",)),
        ("cd sub && ../t.sh", ("t.sh",)), ("../t.sh", ()), ("/usr/bin/env pytest", ()), ("pytest -c ci.ini tests", ("ci.ini",)),
        ("mypy --config-file=a/b.toml src", ("a/b.toml",)), ("python src/app.py", ()), ("python3 tools/run.py", ("tools/run.py",)),
        ("python -m pytest tests/test_a.py", ()), ("X=1 ./t.sh && sh b.sh", ("t.sh", "b.sh")),
        ("bash -c './t.sh; sh x/y.sh'", ("t.sh", "x/y.sh")), ("source env.sh && pytest", ("env.sh",)), ("pytest tests", ()), ("", ()),
        ("./greet Ada | diff - a.txt", ()), ("./run_tests.sh | diff - log", ("run_tests.sh",)), ("./x.sh | tee log", ("x.sh",)),
        ("PYTHONPATH=. python -m doctest README.md", ("README.md",)), ("python -m doctest src/sums.py", ()),
        ("cd docs && python3 -m doctest -v -o ELLIPSIS a.rst b.txt", ("docs/a.rst", "docs/b.txt")),
        ('[ "$(./plus 2 19)" = "21" ]', ()), ("out=$(./plus 1 2); [ $out = 3 ]", ()), ("diff <(./plus 1 2) want.txt", ()),
        ('test "$(./run_tests)" = ok', ("run_tests",)), ('[ "`./plus 1 2`" = 3 ] && ./t.sh', ("t.sh",)),
    ],
)  # fmt: skip
def test_the_files_a_command_is_made_of(command: str, files: tuple[str, ...]):
    assert judging_files(command) == files


@pytest.mark.parametrize(
    ("command", "output", "creatable"),
    [
        ("./t.sh", "bash: line 1: ./t.sh: No such file or directory\n", True),
        ("./t.sh", "bash: Zeile 1: ./t.sh: Datei oder Verzeichnis nicht gefunden", True),
        ("bash a/t.sh", "bash: a/t.sh: No such file or directory", True),
        ("./t.sh", "./t.sh: line 3: foo: command not found", False),
        ("./t.sh", "bash: ./t.sh: /no/python: bad interpreter: No such file or directory", False),
        ("pytest", "bash: line 1: pytest: command not found", False),
        (".venv/bin/pytest", "bash: line 1: .venv/bin/pytest: No such file or directory", False),
        ("/opt/t.sh", "bash: line 1: /opt/t.sh: No such file or directory", False),
    ],
)
def test_only_a_missing_path_of_the_workspace_may_be_what_the_task_creates(command: str, output: str, creatable: bool):
    assert created_by_the_task(command, output) is creatable


@pytest.mark.parametrize(
    ("command", "once"),
    [
        ("vitest", "vitest run"), ("npx vitest --coverage", "npx vitest run --coverage"), ("vitest run", "vitest run"),
        ("vitest watch", "vitest run"), ("jest --watch", "jest"), ("pnpm exec jest --watchAll a", "pnpm exec jest a"),
        ("tsc --watch -p .", "tsc -p ."), ("echo 'vitest'", "echo 'vitest'"), ("a && vitest", "a && vitest"), ("pytest", "pytest"),
        ("node_modules/.bin/vitest", "node_modules/.bin/vitest run"), ("jest --watch=false", "jest --watch=false"),
    ],
)  # fmt: skip
def test_watch_modes_are_off_where_typed_plainly(command: str, once: str):
    assert without_watch(command) == once


WORDS = [
    "a",
    "./t.sh",
    "&&",
    "|",
    ";",
    "'",
    '"',
    "(",
    ")",
    "cd",
    "bash",
    "-c",
    ">",
    "&",
    "#",
    "\\",
    "\n",
    "$",
    "=",
    "env",
]


@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)))
def test_no_command_line_raises(command: str):
    role_of(command)
    judging_files(command)
    status_of_failing_tests(command)
    created_by_the_task(command, command)
    without_watch(command)


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("$(MAKE) install DESTDIR=$(PWD)/tmp", ()),
        ("$(CC) -o a a.c && ./a $(CURDIR)", ("./a",)),
        ("echo $(date) $(CURDIR)", ("echo", "date")),
    ],
)
def test_a_variable_of_make_is_no_program(command: str, programs: tuple[str, ...]) -> None:
    assert set(programs_of(command)) == set(programs)
