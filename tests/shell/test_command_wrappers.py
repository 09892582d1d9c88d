"""Is the tool behind wrappers found?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.shell.command_wrappers import unwrap


@pytest.mark.parametrize(
    ("command", "tool", "purpose"),
    [
        ("pytest -q", "pytest", "test"),
        ("/srv/.venv/bin/python -m pytest -q", "pytest", "test"),
        ("CI=1 uv run --with x pytest", "pytest", "test"),
        ("uv run -m pytest", "pytest", "test"),
        ("poetry run mypy .", "mypy", "types"),
        ("npx --no-install tsc --noEmit", "tsc", "types"),
        ("pnpm exec eslint .", "eslint", "lint"),
        ("bash -c 'cd a && timeout 60 ruff check .'", "cd", "lint"),
        ("timeout -k 5 60s pytest", "pytest", "test"),
        ("env FOO=1 go test ./...", "go", "test"),
        ("go vet ./...", "go", "lint"),
        ("cargo +nightly clippy -- -D warnings", "cargo", "lint"),
        ("ruff format --check .", "ruff", "format"),
        ("make lint", "make", "lint"),
        ("make", "make", "build"),
        ("npm run test:unit", "npm", "test"),
        ("npm run build", "npm", "build"),
        ("tox -e py311", "tox", "test"),
        ("cat log | grep failed", "cat", "read"),
        ("cat log | pytest -q", "cat", "test"),
        ("python manage.py test", "manage.py", "test"),
        ("./release.sh", "release.sh", "other"),
        ("python run.py", "python", "run"),
        ("coverage run -m pytest", "pytest", "test"),
    ],
)
def test_wrappers_are_taken_off(command: str, tool: str, purpose: str) -> None:
    asked = unwrap(command)

    assert asked.tools[0] == tool
    assert asked.purpose == purpose


def test_what_a_wrapper_announces_counts_when_its_own_words_say_nothing() -> None:
    assert unwrap("make all-of-it", ["+ pytest -q"]).purpose in {"build", "test"}
    assert unwrap("./ci.sh", ["> pytest -q"]).purpose == "test"
    assert "flake8" in unwrap("tox", ["lint: commands[0]> flake8 src"]).tools


@given(st.text(max_size=200))
@example_count(150)
def test_any_command_line_can_be_unwrapped(command: str) -> None:
    assert unwrap(command, [command]).purpose
