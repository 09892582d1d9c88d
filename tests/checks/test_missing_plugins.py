"""A plug-in that a runner's configuration asks for and that is not installed is the environment's fault."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from kotef.checks.missing_plugins import configuration_question, missing_of
from kotef.checks.trial import Trial, try_checks
from kotef.checks.types import Check
from kotef.classification import ENVIRONMENT_FAULTS, classify
from kotef.sandbox import child_environment

INI = "[pytest]\naddopts = {}\n"


def _tried(root: Path, arguments: str = "") -> Trial:
    env = child_environment({"PATH": os.environ["PATH"]}) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = f"{sys.executable} -m pytest{arguments}"
    check = Check(name="pytest", command=command, role="test", origin="detected")
    return asyncio.run(try_checks([check], root=root, env=env))[0]


@pytest.mark.examples(3)
@pytest.mark.parametrize(
    ("option", "distribution"),
    [
        ("--cov=src", "pytest-cov"),
        ("--cov-report term", "pytest-cov"),
        ("--no-cov", "pytest-cov"),
        ("-n auto", "pytest-xdist"),
        ("-n4", "pytest-xdist"),
        ("--dist loadfile", "pytest-xdist"),
        ("--timeout=5", "pytest-timeout"),
        ("--reruns 2", "pytest-rerunfailures"),
    ],
)
def test_an_option_in_the_configuration_whose_plugin_is_missing_is_not_installed(
    tmp_path: Path, option: str, distribution: str
) -> None:
    (tmp_path / "pytest.ini").write_text(INI.format(option))

    found = _tried(tmp_path)

    assert not found.starts
    assert found.install.endswith(distribution)
    assert option.partition("=")[0].split()[0][:2] in found.why


def test_a_required_plugin_that_is_missing_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nrequired_plugins = pytest-nowhere>=2\n")

    found = _tried(tmp_path)

    assert (found.starts, found.install.rpartition(" ")[2]) == (False, "pytest-nowhere")


def test_options_that_are_known_start(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(INI.format("-q --strict-markers --fast"))
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser): parser.addoption('--fast', action='store_true')\n"
    )

    assert _tried(tmp_path).starts


def test_a_conftest_that_breaks_is_no_missing_plugin(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(INI.format("-q"))
    (tmp_path / "conftest.py").write_text("import to_be_written\n")

    assert _tried(tmp_path).starts


def test_where_nothing_asks_for_a_plugin_nothing_more_is_started(tmp_path: Path) -> None:
    assert not configuration_question(["python", "-m", "pytest"], tmp_path)
    assert not configuration_question(["go", "test", "-race"], tmp_path)
    assert configuration_question(["pytest", "--cov"], tmp_path)


def test_the_distribution_is_the_one_that_the_project_names(tmp_path: Path) -> None:
    (tmp_path / "tox.ini").write_text("[testenv]\ndeps =\n    pytest_harvest\n")
    said = "error: unrecognized arguments: {}"

    assert missing_of(said.format("--harvest-all"), tmp_path) == (
        "pytest does not know --harvest-all, an option of a missing plug-in",
        "pytest_harvest",
    )
    assert missing_of(said.format("--sow"), tmp_path) == (
        "pytest does not know --sow, an option of a missing plug-in",
        "",
    )
    assert missing_of("1 failed in 0.1s", tmp_path) is None


_USAGE = "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: {}\n  inifile: x\n"


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("pytest", _USAGE.format("--cov=a")),
        ("pytest --cov=a", _USAGE.format("--cov=a")),
        ("make test", _USAGE.format("-n")),
        ("pytest", "ERROR: Missing required plugins: pytest-django>=4"),
        ("npx jest", "● Validation Error:\n\n  Preset ts-jest not found relative to rootDir /x."),
        ("npx jest", "● Validation Error:\n\n  Module ts-jest in the transform option was not found.\n"),
        ("npx jest", "Could not resolve a module for a custom reporter.\n  Module name: jest-junit\n"),
        ("npm test", "● Validation Error:\n\n  Test environment jest-environment-jsdom cannot be found. Make sure the"),
        ("npx mocha", '✖ ERROR: TypeError: Could not load reporter "xunit-file":\n'),
        (
            "npx mocha",
            "Error: Cannot find package 'ts-node' imported from /w/node_modules/mocha/lib/nodejs/esm-utils.js",
        ),
        ("npx ava", "Error: Cannot find module 'esm'\nRequire stack:\n- /w/node_modules/ava/lib/worker/base.js\n"),
        ("npx vitest run", " MISSING DEPENDENCY  Cannot find dependency 'jsdom'\n"),
        ("npx vitest run", "Error: Failed to load custom Reporter from vitest-sonar-reporter\n"),
        ("go vet ./...", 'go: no such tool "vet"\n'),
    ],
)
def test_a_runner_that_lacks_an_extension_blames_the_environment(command: str, output: str) -> None:
    found = classify(command, 1, output, "")

    assert (found.kind, found.detail) == ("tooling_error", "missing_plugin")
    assert found.detail in ENVIRONMENT_FAULTS


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("pytest --colour=yes", _USAGE.format("--colour=yes")),
        ("npx jest", "● Validation Error:\n\n  Preset ./preset not found relative to rootDir /x."),
        (
            "npx jest",
            "● Validation Error:\n\n  Module <rootDir>/setup.js in the setupFilesAfterEnv option was not found.",
        ),
        ("npx mocha", "Error: Cannot find module './lib'\nRequire stack:\n- /w/node_modules/mocha/lib/cli/run.js\n"),
        ("npx mocha", "Error: Cannot find module 'left-pad'\nRequire stack:\n- /w/test/index.js\n"),
        ("pytest", "E   ImportError: Error importing plugin \"tests.plugin\": No module named 'tests.plugin'"),
    ],
)
def test_what_the_project_itself_lacks_is_not_blamed_on_the_environment(command: str, output: str) -> None:
    assert classify(command, 1, output, "").detail != "missing_plugin"
