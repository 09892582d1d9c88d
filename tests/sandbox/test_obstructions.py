"""What the sandbox keeps from a check is named beside its failure, with the option that opens it."""

import asyncio
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from kotef.checks.obstructions import NO_NETWORK
from kotef.checks.runner import run_check
from kotef.checks.types import CommandResult
from kotef.sandbox.environment import child_environment
from kotef.sandbox.sandbox import Level, Sandbox

Make = Callable[..., Sandbox]

LEVELS: list[Level] = ["bwrap", "landlock"]
each_level = pytest.mark.parametrize("level", LEVELS)


def checked(command: str, sandbox: Sandbox, project: Path) -> CommandResult:
    env = child_environment(os.environ)
    return asyncio.run(run_check(command, root=project, env=env, timeout=60, idle_timeout=None, sandbox=sandbox))


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of a person, on PATH and in a folder that no toolchain is known to lie in."""
    path = Path(os.environ["HOME"], "own tools", "checker")
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\necho checked\n")
    path.chmod(0o755)
    return path


@each_level
@pytest.mark.parametrize("called", ["'{path}'", "cd . && '{path}' --all", "sh -c \"'{path}'\""])
def test_a_hidden_program_is_not_called_missing(
    level: Level, called: str, make: Make, project: Path, program: Path
) -> None:
    command = called.format(path=program)
    hidden = checked(command, make(level), project)
    shown = checked(command, make(level, reads=[program.parent]), project)

    assert (hidden.passed, hidden.kind, hidden.detail) == (False, "tooling_error", "hidden_program")
    assert f"hidden by the sandbox; --read {program.parent}" in hidden.summary
    assert hidden.obstructions
    assert shown.passed


@each_level
def test_a_missing_program_is_not_called_hidden(level: Level, make: Make, project: Path) -> None:
    missing = checked("no-such-program --all", make(level), project)

    assert missing.detail == "command_not_found"
    assert not missing.obstructions


@each_level
@pytest.mark.parametrize(
    "reading",
    ["cat {path}", "python3 -c \"open('{path}')\"", "grep -q x {path}"],
)
def test_a_hidden_file_that_a_failure_names_is_told_to_people_and_not_to_a_model(
    level: Level, reading: str, make: Make, project: Path
) -> None:
    data = Path(os.environ["HOME"], "data.csv")
    data.write_text("1,2\n")
    hidden = checked(reading.replace("{path}", str(data)), make(level), project)
    absent = checked(reading.replace("{path}", f"{data}.gone"), make(level), project)

    assert hidden.obstructions == (
        f"{data} exists, but is hidden by the sandbox; --read {data} makes it visible to commands",
    )
    assert "hidden" not in hidden.summary
    assert not absent.obstructions


def test_a_file_that_looks_empty_is_named_beside_a_failure(make: Make, project: Path) -> None:
    (project / ".env").write_text("MODE=test\n")
    command = 'test "$(cat .env)" = MODE=test'
    hidden = checked(command, make("bwrap"), project)
    shown = checked(command, make("bwrap", reads=[project / ".env"]), project)

    assert ".env looks empty to commands; --read .env shows the content" in hidden.summary
    assert shown.passed
    assert not checked("true", make("bwrap"), project).obstructions


@pytest.mark.parametrize(
    ("output", "is_named"),
    [
        ("KeyError: 'DATABASE_URL'", True),
        ("process.env.API_HOST is undefined", True),
        ("could not load .env", True),
        ("config/.env: no such setting", True),
        ("assert 1 == 2", False),
        ("environment is fine; see .envrc and DATABASE_URLS", False),
    ],
)
def test_a_file_that_looks_empty_is_named_only_where_it_can_matter(
    output: str, is_named: bool, make: Make, project: Path
) -> None:
    (project / "config").mkdir()
    (project / "config/.env").write_text("# DEBUG\nexport DATABASE_URL=x\nAPI_HOST = y\n")
    done = checked(f"python3 {shlex.quote(written(project, output))}", make("bwrap"), project)

    assert not done.passed
    assert bool(done.obstructions) == is_named


def written(project: Path, output: str) -> str:
    """A program that prints this and fails."""
    (project / "fails.py").write_text(f"print({output!r}); raise SystemExit(1)\n")
    return "fails.py"


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ("FOO=env\nSPAM=1\nHAM=火腿\n", True),
        ("DATABASE_URL=postgres://localhost/test\nDEBUG=1\n", True),
        ("SECRET_KEY=changeme\nAPI_TOKEN=\n", True),
        ("API_TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a\n", False),
        ("DATABASE_URL=postgres://app:Tr0ub4dor-3xq@db/prod\n", False),
    ],
)
@pytest.mark.parametrize("name", [".env", "tests/app/.env", ".env.test"])
def test_a_tracked_environment_file_is_hidden_for_its_values_and_not_for_its_name(
    text: str, is_shown: bool, name: str, make: Make, project: Path
) -> None:
    file = project / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    done = checked(f"cat {name}", make("bwrap", public=[name]), project)
    untracked = checked(f"cat {name}", make("bwrap"), project)

    assert done.stdout == (text if is_shown else "")
    assert not untracked.stdout


PUBLIC_KEY = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(("copy", "is_shown"), [(PUBLIC_KEY, True), (PUBLIC_KEY.replace("MIIB", "MIIC"), False)])
@pytest.mark.parametrize("place", ["target/classes/server.key", "build/a/b/server.key"])
def test_a_copy_that_a_build_made_of_a_tracked_key_is_shown_and_can_be_written(
    copy: str, is_shown: bool, place: str, make: Make, project: Path
) -> None:
    for path, text in {"tests/server.key": PUBLIC_KEY, place: copy}.items():
        (project / path).parent.mkdir(parents=True)
        (project / path).write_text(text)
    done = checked(f"cat {place} && cp tests/server.key {place}", make("bwrap", public=["tests/server.key"]), project)

    assert (done.stdout, done.passed) == ((copy, True) if is_shown else ("", False))


@pytest.mark.parametrize("value", ["changeme", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"])
def test_a_copy_of_a_tracked_environment_file_is_as_public_as_that_file(value: str, make: Make, project: Path) -> None:
    text = f"API_TOKEN={value}\n"
    for path in (".env", "dist/.env"):
        (project / path).parent.mkdir(exist_ok=True)
        (project / path).write_text(text)
    done = checked("cat dist/.env", make("bwrap", public=[".env"]), project)

    assert done.stdout == (text if value == "changeme" else "")


@each_level
def test_a_write_outside_is_named_with_what_lifts_it(level: Level, make: Make, project: Path) -> None:
    done = checked("touch /usr/share/kotef-was-here", make(level), project)

    assert not done.passed
    assert level == "landlock" or "commands may write only in the workspace" in done.summary


def test_without_network_the_way_out_comes_first(make: Make, project: Path) -> None:
    (project / ".env").write_text("MODE=test\n")
    done = checked("echo 'curl: (6) Could not resolve host: example.test' >&2; exit 6", make("bwrap"), project)

    assert done.obstructions[0] == NO_NETWORK
    assert NO_NETWORK in done.summary
