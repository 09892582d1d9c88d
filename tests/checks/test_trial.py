"""What detection finds is tried before it is required: does its program start here?"""

import asyncio
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.checks.detect import collect_checks, detect
from kotef.checks.trial import Trial, TrialResult, required, toolchain_notes, try_checks
from kotef.checks.types import Check, Origin
from kotef.runs import check_trial
from kotef.sandbox import OFF

TELLS = '#!/bin/sh\necho "$0 $*" >> "$PWD/started"\necho "tool 4.5.6"\n'
FAILS = "#!/bin/sh\necho 'No module named pytest' >&2\nexit 1\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace beside a folder of programs, which is PATH with the system's own."""
    root = tmp_path / "root"
    (tmp_path / "bin").mkdir()
    root.mkdir()
    return root


def program(path: Path, text: str = TELLS) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def tried(root: Path, *, start: bool = True, checks: tuple[Check, ...] | None = None) -> dict[str, Trial]:
    env = {"PATH": f"{root.parent / 'bin'}:/usr/bin:/bin", "HOME": str(root.parent)}
    found = detect(root) if checks is None else checks
    trials = asyncio.run(try_checks(found, root=root, env=env, start=start))
    return {trial.check.name: trial for trial in trials}


def test_a_tool_that_is_configured_and_nowhere_is_not_installed(place: Path) -> None:
    program(place / ".venv/bin/python")
    program(place / ".venv/bin/pip")
    (place / "pyproject.toml").write_text("[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\nfiles=['a']\n")
    found = tried(place)
    assert found["pytest"].starts
    assert found["pytest"].version == "pytest 4.5.6"
    assert not found["mypy"].starts
    assert (found["mypy"].why, found["mypy"].install) == (
        "mypy is not found",
        ".venv/bin/python -m pip install mypy",
    )
    kept = required(list(found.values()))
    assert [check.name for check in kept.checks] == ["pytest"]
    assert len(kept.notices) == 2
    assert kept.broken == "", "tests can be run"
    program(place / ".venv/bin/mypy")
    assert tried(place)["mypy"].starts, "a later install helps"


def test_a_program_that_is_there_and_does_not_start_is_not_installed(place: Path) -> None:
    program(place.parent / "bin/ruff", "#!/bin/sh\necho 'shim: ruff: command not found' >&2\nexit 127\n")
    (place / "ruff.toml").write_text("")
    assert tried(place)["ruff check"].why == "shim: ruff: command not found"
    assert tried(place, start=False)["ruff check"].starts, "only looked for"


def test_the_line_that_says_why_comes_before_the_advice_below_it(place: Path) -> None:
    (place / "ruff.toml").write_text("")
    program(
        place.parent / "bin/ruff",
        "#!/bin/sh\necho ' ERROR  no packages field' >&2; echo 'For help, run: ruff help' >&2; exit 1\n",
    )
    assert tried(place)["ruff check"].why == "ERROR  no packages field"


def test_an_environment_without_pytest_says_how_it_comes_there(place: Path) -> None:
    program(place / "env/bin/python", FAILS)
    program(place / "env/bin/pip")
    (place / "env/pyvenv.cfg").write_text("")
    (place / "pytest.ini").write_text("[pytest]\n")
    found = tried(place)["pytest"]
    assert (found.check.command, found.starts) == ("env/bin/python -m pytest", False)
    assert found.install == "env/bin/python -m pip install pytest"
    said = required([found]).broken
    assert "env/bin/python -m pytest" in said
    assert found.install in said
    assert "\n" not in said


BROKEN = {
    "filterwarnings = error\n": "import warnings\nwarnings.warn('old', DeprecationWarning)\n",
    "addopts = -q\n": "raise RuntimeError('broken')\n",
    "minversion = 1\n": "import a_package_of_nobody\n",
    "xfail_strict = true\n": "def (\n",
}


@pytest.mark.examples(3)
@pytest.mark.parametrize("line", BROKEN)
@pytest.mark.parametrize("program", ["{} -m pytest", "{}/../pytest"])
def test_pytest_is_there_whatever_the_projects_own_configuration_does(place: Path, line: str, program: str) -> None:
    import sys

    (place / "pytest.ini").write_text(f"[pytest]\n{line}")
    (place / "conftest.py").write_text(BROKEN[line])
    command = program.format(sys.executable).replace(f"{Path(sys.executable).name}/../", "")
    found = tried(place, checks=(Check(name="pytest", command=command, role="test", origin="detected"),))["pytest"]
    assert found.starts, found.why
    assert found.version.startswith("pytest ")


def test_a_program_that_reads_the_configuration_first_is_asked_without_it(place: Path) -> None:
    """As older releases of pytest do, which load every conftest before they tell their version."""
    refuses = "#!/bin/sh\ncase \"$*\" in *{}*) echo 'tool 7.4';; *) echo 'could not load conftest' >&2; exit 1;; esac\n"
    program(place.parent / "bin/pytest", refuses.format("--noconftest"))
    program(place.parent / "bin/flake8", refuses.format("--isolated"))
    checks = tuple(
        Check(name=name, command=f"{name} {more}", role="test" if name == "pytest" else "lint", origin="detected")
        for name, more in (("pytest", "-q tests"), ("flake8", "."))
    )
    assert [trial.starts for trial in tried(place, checks=checks).values()] == [True, True]


def test_no_install_line_is_made_up_for_a_plug_in_that_nobody_knows(place: Path) -> None:
    import sys

    (place / "pytest.ini").write_text("[pytest]\naddopts = -p plug_in_of_nobody\n")
    command = f"{sys.executable} -m pytest"
    found = tried(place, checks=(Check(name="pytest", command=command, role="test", origin="detected"),))["pytest"]
    assert (found.starts, found.install) == (False, "")
    assert "plug_in_of_nobody" in found.why


def of_machine(root: Path, project: str) -> Trial:
    """pytest with the interpreter of these tests as the machine's."""
    import sys

    program(root.parent / "bin/python3", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (root / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\n{project}")
    return tried(root, checks=(Check(name="pytest", command="python3 -m pytest", role="test", origin="detected"),))[
        "pytest"
    ]


def test_the_machines_python_has_to_hold_what_the_project_needs(place: Path) -> None:
    assert of_machine(
        place, "[project]\nname='a'\ndependencies=['pytest>=7', 'absent-on-windows; os_name==\"nt\"']\n"
    ).starts
    found = of_machine(place, "[project]\nname='a'\ndependencies=['pytest', 'no-such-thing[x]>=2']\n")
    assert (found.starts, found.why) == (False, "python3 has no no-such-thing")
    assert found.install == "python3 -m venv .venv && .venv/bin/python -m pip install -e . pytest"


def test_a_package_below_src_has_to_be_imported_from_here(place: Path) -> None:
    (place / "src/pytest").mkdir(parents=True)
    (place / "src/pytest/__init__.py").write_text("")
    found = of_machine(place, "")
    assert not found.starts
    assert "imports pytest from" in found.why
    assert "not from this workspace" in found.why
    (place / "src/pytest").rename(place / "src/a_package_of_its_own")
    assert of_machine(place, "").why == "python3 cannot import a_package_of_its_own"
    assert of_machine(place, "pythonpath = ['src']\n").starts


def test_a_package_script_starts_a_program_of_node_modules_or_path(place: Path) -> None:
    program(place.parent / "bin/npm", "#!/bin/sh\necho 10.9.0\n")
    scripts = {"test": "vitest run", "lint": "NODE_ENV=test eslint-of-nobody ."}
    (place / "package.json").write_text(json.dumps({"scripts": scripts}))
    (place / "package-lock.json").write_text("")
    found = tried(place)
    assert [trial.starts for trial in found.values()] == [False, False]
    assert found["npm test"].why == "`npm test` starts vitest, which is not found"
    assert found["npm test"].install == "npm ci"
    program(place / "node_modules/.bin/vitest")
    found = tried(place)
    assert (found["npm test"].starts, found["npm test"].version) == (True, "npm 10.9.0")
    assert not (place / "started").exists(), "the script itself is not run"


def test_scripts_that_call_scripts_are_followed_to_the_program_that_is_missing(place: Path) -> None:
    program(place.parent / "bin/npm", "#!/bin/sh\necho 10.9.0\n")
    scripts = {"test": "npm run test:node && npm run lint", "test:node": "mocha-of-nobody test.js", "lint": "npm test"}
    (place / "package.json").write_text(json.dumps({"scripts": {**scripts, "lint": "npm run test"}}))
    found = tried(place)["npm test"]
    assert not found.starts
    assert found.why == "`npm test` starts mocha-of-nobody, which is not found"
    assert found.install == "npm install"


ASKED = [
    ({".nvmrc": "18"}, "node", "v20.1.0", ".nvmrc asks for Node 18, and `node` here is 20.1.0"),
    ({".nvmrc": "20"}, "node", "v20.1.0", ""),
    ({".nvmrc": "lts/*"}, "node", "v20.1.0", ""),
    ({"package.json": '{"volta": {"node": "16.1.0"}}'}, "node", "v20.1.0", "package.json: volta asks for Node 16.1.0"),
    ({"go.mod": "module a\n\ngo 1.21\n"}, "go", "go version go1.22.3 linux/amd64", ""),
    ({"go.mod": "module a\n\ngo 1.21\ntoolchain go1.23.1\n"}, "go", "go version go1.22.3 x", "go.mod: toolchain asks for Go 1.23.1 or newer"),
    ({"rust-toolchain.toml": "[toolchain]\nchannel = '1.70'\n"}, "rustc", "rustc 1.80.1 (x)", "rust-toolchain.toml asks for Rust 1.70"),
    ({"rust-toolchain": "nightly\n"}, "rustc", "rustc 1.80.1 (x)", ""),
    ({".java-version": "1.8"}, "java", 'openjdk version "17.0.1"', ".java-version asks for Java 8"),
    ({".sdkmanrc": "java=21.0.1-tem\n"}, "java", 'openjdk version "17.0.1"', ".sdkmanrc asks for Java 21.0.1"),
    ({".ruby-version": "ruby-3.1.2\n"}, "ruby", "ruby 3.1.9p1", ""),
    ({".tool-versions": "ruby 3.2.0\n"}, "ruby", "ruby 3.1.9p1", ".tool-versions asks for Ruby 3.2.0"),
    ({".nvmrc": "18; touch x"}, "node", "v20.1.0", ""),
    ({"package.json": "[" * 5_000}, "node", "v20.1.0", ""),
]  # fmt: skip


@pytest.mark.parametrize(("files", "name", "says", "told"), ASKED, ids=range(len(ASKED)))
def test_another_version_of_a_toolchain_than_the_one_asked_for_is_named(
    place: Path, files: dict[str, str], name: str, says: str, told: str
) -> None:
    program(place.parent / f"bin/{name}", f"#!/bin/sh\necho '{says}'\n")
    for path, text in files.items():
        (place / path).write_text(text)
    notes = asyncio.run(toolchain_notes(place, env={"PATH": f"{place.parent / 'bin'}:/usr/bin:/bin"}))
    assert [note.startswith(told) for note in notes] == ([True] if told else [])


def test_the_check_of_a_package_is_tried_in_its_folder(place: Path) -> None:
    program(place.parent / "bin/npm", "#!/bin/sh\npwd >> ../../started\necho 10.9.0\n")
    program(place / "packages/a/.venv/bin/python", FAILS)
    (place / "packages/a/setup.py").write_text("")
    (place / "packages/a/pytest.ini").write_text("")
    (place / "packages/b").mkdir()
    (place / "packages/b/package.json").write_text('{"scripts": {"test": "vitest run"}}')
    checks = tried(place)
    assert {trial.check.command: trial.starts for trial in checks.values()} == {
        "cd packages/a && .venv/bin/python -m pytest --rootdir=../..": False,
        "cd packages/b && npm test": False,
    }
    of_a, of_b = checks.values()
    assert of_a.install.startswith("cd packages/a && ")
    assert (of_b.why, of_b.install) == ("`npm test` starts vitest, which is not found", "cd packages/b && npm install")
    program(place / "node_modules/.bin/vitest")
    assert next(trial.starts for trial in tried(place).values() if "npm" in trial.check.command)
    assert (place / "started").read_text().strip() == str(place / "packages/b")


def test_a_make_target_whose_program_is_missing_does_not_start(place: Path) -> None:
    (place / "Makefile").write_text("test:\n\t@no-such-runner $(FLAGS) tests\n")
    assert tried(place)["make test"].why == "`make test` starts no-such-runner, which is not found"
    (place / "Makefile").write_text("RUNNER = no-such-runner\ntest:\n\t$(RUNNER) tests\n")
    assert tried(place)["make test"].starts, "what only make can tell is left to make"


@pytest.mark.parametrize("makefile", ["", "test:\n\tno-launcher run --python 3.10 pytest\n\tno-launcher run pytest\n"])
def test_where_the_declared_command_cannot_start_the_tests_are_run_as_their_files_suggest(
    place: Path, makefile: str
) -> None:
    program(place / ".venv/bin/python")
    (place / ".venv/pyvenv.cfg").write_text("")
    (place / "tests").mkdir()
    (place / "tests/test_a.py").write_text("def test_a():\n    assert True\n")
    if makefile:
        (place / "Makefile").write_text(makefile)
    env = {"PATH": f"{place.parent / 'bin'}:/usr/bin:/bin", "HOME": str(place.parent)}
    found = check_trial.tried(detect(place), root=place, env=env, sandbox=OFF)
    assert [check.command for check in found.checks] == [".venv/bin/python -m pytest"]
    assert not found.broken
    assert [trial.check.command for trial in found.left_out] == (
        ['PATH="$PWD/.venv/bin:$PATH" make test'] * bool(makefile)
    )
    program(place / ".venv/bin/python", FAILS)
    assert ("no-launcher" in check_trial.tried(detect(place), root=place, env=env, sandbox=OFF).broken) is bool(
        makefile
    )


def test_a_build_folder_that_is_not_there_is_told_with_what_makes_it(place: Path) -> None:
    (place / "CMakeLists.txt").write_text("enable_testing()\n")
    found = tried(place)["ctest"]
    assert (found.starts, found.why) == (False, "build/ is not configured")
    assert found.install == "cmake -S . -B build && cmake --build build"


def test_what_cannot_start_says_how_to_go_on_whether_a_way_to_install_it_is_known_or_not() -> None:
    check = Check(name="x", command="x", role="test", origin="detected")
    known = Trial(check, starts=False, why="x is not found", install="npm ci")
    assert known.sentence.endswith("is not installed: x is not found; install it: npm ci")
    assert known._replace(install="").sentence.endswith("; install it, or name another command in .sdd/kotef.toml")


def test_what_somebody_named_is_required_whether_it_starts_or_not() -> None:
    named: tuple[Origin, ...] = ("option", "ticket", "architect", "kotef.toml", "pyproject")
    for origin in named:
        check = Check(name="x", command="no-such-program", role="test", origin=origin)
        kept = required([Trial(check, starts=False, why="it is not found")])
        assert kept == TrialResult((check,))


ROLES = st.sampled_from(["test", "lint", "types"])
TRIALS = st.lists(st.tuples(ROLES, st.booleans(), st.sampled_from(["detected", "architect"])), max_size=6)


@example_count(60)
@given(TRIALS)
def test_every_check_is_required_or_left_out_and_broken_means_that_no_test_is_left(
    drawn: list[tuple[str, bool, str]],
) -> None:
    trials = [
        Trial(
            Check.model_validate({"name": str(at), "command": f"c{at}", "role": role, "origin": origin}),
            starts=starts,
            why="" if starts else "gone",
        )
        for at, (role, starts, origin) in enumerate(drawn)
    ]
    kept = required(trials)
    assert len(kept.checks) + len(kept.left_out) == len(trials)
    assert all(trial.check.origin == "detected" and not trial.starts for trial in kept.left_out)
    tested = any(check.role == "test" for check in kept.checks)
    lost = any(trial.check.role == "test" for trial in kept.left_out)
    assert bool(kept.broken) == (not tested and (lost or (not kept.checks and bool(kept.left_out))))


def test_nothing_is_found_where_nothing_is_declared(place: Path) -> None:
    checks = collect_checks(place, options=(), ticket=(), architect=())
    assert checks == ()
    assert required(list(tried(place, checks=checks).values())) == TrialResult(())
    assert list(place.iterdir()) == []


def test_what_is_missing_is_installed_into_the_active_environment(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the project has none of its own."""
    import venv

    active = place.parent / "envs" / "mine"
    venv.create(active, with_pip=False, symlinks=True)
    (active / "bin" / "pip").touch()
    monkeypatch.setenv("VIRTUAL_ENV", str(active))
    monkeypatch.setenv("PATH", f"{active}/bin:{os.environ['PATH']}")
    unknown = Check(name="tests", command="python3 -m nose2", role="test", origin="detected")
    found = tried(place, checks=(unknown,))["tests"]
    assert (found.starts, found.install) == (False, f"{active}/bin/python -m pip install nose2")
