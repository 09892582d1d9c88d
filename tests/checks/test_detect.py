"""Checks found in a project's files, and the order of the places that name them."""

import json
import shlex
import shutil
from pathlib import Path

import pytest
from support.cpu_time import bounded_cpu

from kotef.checks import detect as detection
from kotef.checks.detect import collect_checks, configured, detect, missing_dependencies
from kotef.errors import SpecError


@pytest.fixture
def project(tmp_path: Path):
    """Writes files and returns the root; a name that ends with a slash is a directory."""

    def write(**files: str) -> Path:
        return write_all(files)

    def write_all(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir() if name.endswith("/") else path.write_text(text)
        return tmp_path

    write.all = write_all
    return write


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What is on PATH in these tests."""
    found = {"python3"}
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name in found else None)
    return found


def found(root: Path) -> dict[str, str]:
    return {check.name: check.command for check in detect(root)}


def test_an_empty_directory_has_no_checks(tmp_path: Path):
    assert detect(tmp_path) == ()


PYTHON = [
    ({"tests/test_a.py": ""}, {"pytest": "python3 -m pytest"}),
    ({"test_a.py": ""}, {"pytest": "python3 -m pytest"}),
    ({"pytest.ini": ""}, {"pytest": "python3 -m pytest"}),
    ({"setup.cfg": "[tool:pytest]\n"}, {"pytest": "python3 -m pytest"}),
    ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, {"pytest": "python3 -m pytest"}),
    ({"pyproject.toml": "[project]\nname='a'\n"}, {}),
    ({"tests/data.txt": ""}, {}),
    ({"tests/test_a.py": "", ".venv/bin/python": ""}, {"pytest": ".venv/bin/python -m pytest"}),
    ({"tests/test_a.py": "", "uv.lock": ""}, {"pytest": "python3 -m pytest"}),
    ({"tox.ini": "[testenv]\n"}, {"tox": "tox"}),
    ({"tox.ini": "[testenv]\n[pytest]\n"}, {"pytest": "python3 -m pytest"}),
    ({"tox.ini": "[testenv]\ncommands =\n  pytest {posargs:tests}\n  flake8\n"}, {"pytest": "python3 -m pytest tests"}),
    ({"tox.ini": "[testenv]\ncommands = {envpython} -m unittest -v {posargs}\n"}, {"unittest": "python3 -m unittest -v"}),
    ({"tox.ini": "[testenv]\ncommands = {env:RUN:{envbindir}/pytest} {posargs}\n"}, {"pytest": "python3 -m pytest"}),
    ({"tox.ini": "[testenv]\ncommands = coverage run -m unittest\n  coverage report\n"}, {"unittest": "python3 -m unittest"}),
    ({"tox.ini": "[testenv]\ncommands = pytest {envtmpdir}\n"}, {"tox": "tox"}),
    ({"tox.ini": "[testenv]\nchangedir = tests\ncommands = pytest\n"}, {"tox": "tox"}),
    ({"tox.toml": '[env_run_base]\ncommands = [["pytest", "-v", {replace = "posargs", default = ["a"]}]]\n'}, {"pytest": "python3 -m pytest -v a"}),
    ({"noxfile.py": "@nox.session\ndef tests(session):\n    session.run('pytest', '-q', *session.posargs)\n"}, {"pytest": "python3 -m pytest -q"}),
    ({"noxfile.py": ""}, {"nox": "nox"}),
    ({"pyproject.toml": "[tool.ruff]\n[tool.mypy]\nfiles=['a']\n"}, {"ruff check": "ruff check .", "mypy": "mypy"}),
    ({"ruff.toml": "", "mypy.ini": "[mypy]\n", "pyrightconfig.json": "{}"}, {"ruff check": "ruff check .", "mypy": "mypy .", "pyright": "pyright"}),
    ({"ruff.toml": "", ".venv/bin/python": "", ".venv/bin/ruff": ""}, {"ruff check": ".venv/bin/ruff check ."}),
    ({"setup.cfg": "[flake8]\n[mypy]\n"}, {"flake8": "flake8", "mypy": "mypy ."}),
    ({"setup.cfg": "this is no ini"}, {}),
    ({"Makefile": "test:\n\tpython -m unittest -v ${tests}\n", "tests/test_a.py": "import unittest"}, {"unittest": "python3 -m unittest -v"}),
    ({"Makefile": "test:\n\tpython -m unittest\n", "tests/test_a.py": "import pytest"}, {"pytest": "python3 -m pytest"}),
    ({"Makefile": "test:\n\tpython -m unittest\n", "pytest.ini": ""}, {"pytest": "python3 -m pytest"}),
    ({"Makefile": "test:\n\tdocker compose run app pytest\n", "tests/test_a.py": ""}, {"pytest": "python3 -m pytest"}),
    ({"Makefile": "test: deps\n\tpytest\ndeps:\n\tpip install x\n", "tests/test_a.py": ""}, {"pytest": "python3 -m pytest"}),
    ({"Makefile": "test:\n\tpython -m a\n\tpytest --cov=a --cov-report=xml\n", "setup.py": ""}, {"make test": "make test"}),
    ({"Makefile": "test:\n\tpytest --cov=a --cov-report=xml t\n", "setup.py": ""}, {"pytest": "python3 -m pytest t"}),
    ({"justfile": "build:\n  x\n\ntest *ARGS:\n  @pytest -q\n", "setup.py": ""}, {"pytest": "python3 -m pytest -q"}),
    ({"scripts/test": "#!/bin/bash\nset -e\npytest a\nmypy a\n", "setup.py": ""}, {"bash scripts-test": "bash scripts/test"}),
    ({"scripts/test": "#!/bin/sh\nset -e\npytest a\n", "setup.py": ""}, {"pytest": "python3 -m pytest a"}),
    ({"scripts/test": "#!/bin/sh\na\nb\n", "setup.py": "", ".venv/bin/python": ""}, {"sh scripts-test": 'PATH="$PWD/.venv/bin:$PATH" sh scripts/test'}),
]  # fmt: skip


@pytest.mark.parametrize(("files", "checks"), PYTHON, ids=[" ".join(files) for files, _ in PYTHON])
def test_python_projects(project, files: dict[str, str], checks: dict[str, str]):
    assert found(project.all(files)) == checks


def test_python_runs_through_the_tool_of_its_lock_file(project, programs: set[str]):
    root = project.all({"tests/test_a.py": "", "uv.lock": "", "ruff.toml": ""})
    programs.add("uv")

    assert found(root) == {"pytest": "uv run python -m pytest", "ruff check": "uv run ruff check ."}
    (root / "uv.lock").rename(root / "poetry.lock")
    programs.add("poetry")
    assert found(root)["pytest"] == "poetry run python -m pytest"


NODE = [
    ({"scripts": {"test": 'echo "Error: no test specified" && exit 1'}}, "package-lock.json", {}),
    ({"scripts": {"test": "jest"}}, "package-lock.json", {"npm test": "npm test"}),
    (
        {"scripts": {"test": "jest", "posttest": "npx npm@'>= 10.2' audit"}},
        "",
        {"npm test": "npm test --ignore-scripts"},
    ),
    (
        {"scripts": {"test": "jest", "pretest": "npm run lint", "posttest": "npm audit"}},
        "",
        {"npm test": "npm test --ignore-scripts"},
    ),
    (
        {"scripts": {"test": "jest", "pretest": "tsc", "posttest": "curl x"}},
        "",
        {"npm test": "npm run pretest && npm test --ignore-scripts"},
    ),
    ({"scripts": {"test": "jest", "pretest": "npm ci && tsc"}}, "", {"npm test": "npm test --ignore-scripts"}),
    ({"scripts": {"test": "jest", "pretest": "tsc", "posttest": "rm -rf out"}}, "", {"npm test": "npm test"}),
    ({"scripts": {"test": "jest", "posttest": "npm audit"}}, "pnpm-lock.yaml", {"pnpm test": "pnpm test"}),
    ({"scripts": {"test": "jest --watch"}}, "", {"npm test": "npm test -- --watch=false --watchAll=false"}),
    ({"scripts": {"test": "vitest"}}, "pnpm-lock.yaml", {"pnpm test": "pnpm test -- --run"}),
    ({"scripts": {"test": "vitest"}}, "yarn.lock", {"yarn test": "yarn test --run"}),
    ({"scripts": {"test": "vitest run"}}, "yarn.lock", {"yarn test": "yarn test"}),
    ({"scripts": {"test": "tsc && vitest --coverage"}}, "", {"npm test": "npm test -- --run"}),
    ({"scripts": {"test": "bun test"}}, "bun.lockb", {"bun test": "bun run test"}),
    ({"packageManager": "pnpm@9.1.0", "scripts": {"lint": "eslint ."}}, "", {"pnpm lint": "pnpm run lint"}),
    ({"scripts": {"lint": "eslint --fix .", "type-check": "tsc"}}, "", {"npm type-check": "npm run type-check"}),
    ({"scripts": "nonsense"}, "", {}),
]


@pytest.mark.parametrize(("package", "lock", "checks"), NODE, ids=range(len(NODE)))
def test_node_projects(project, package: dict[str, object], lock: str, checks: dict[str, str]):
    files = {"package.json": json.dumps(package)} | ({lock: ""} if lock else {})

    assert found(project.all(files)) == checks


WITHOUT_MANAGER = [
    (
        "pnpm-lock.yaml",
        {"test": "vitest run", "lint": "eslint ."},
        {"npm test": "npm test", "npm lint": "npm run lint"},
    ),
    ("yarn.lock", {"test": "jest --watch"}, {"npm test": "npm test -- --watch=false --watchAll=false"}),
    (
        "pnpm-lock.yaml",
        {
            "test": "pnpm check-all && pnpm run unit --coverage && pnpm exec vitest",
            "check-all": "tsc",
            "unit": "tape *.js",
        },
        {"npm test": "npm run check-all && npm run unit -- --coverage && npx --no-install vitest --run"},
    ),
    (
        "pnpm-lock.yaml",
        {"test": "pnpm unit", "unit": "pnpm vitest run x"},
        {"npm test": "npx --no-install vitest run x"},
    ),
    ("pnpm-lock.yaml", {"test": "vitest run && pnpm -r unit"}, {"pnpm test": "pnpm test"}),
    ("pnpm-lock.yaml", {"test": "pnpm vitest run | pnpm tap-view"}, {"pnpm test": "pnpm test"}),
    ("pnpm-lock.yaml", {"test": "pnpm test"}, {"pnpm test": "pnpm test"}),
]


@pytest.mark.parametrize(("lock", "scripts", "checks"), WITHOUT_MANAGER, ids=range(len(WITHOUT_MANAGER)))
def test_without_its_package_manager_the_scripts_of_an_installed_project_are_run_by_npm(
    project, programs: set[str], lock: str, scripts: dict[str, str], checks: dict[str, str]
):
    programs.add("npm")
    root = project.all({"package.json": json.dumps({"scripts": scripts}), lock: "", "node_modules/.bin/vitest": ""})
    assert found(root) == checks
    programs.add(lock[:4])
    assert all(lock[:4] in command for command in found(root).values())


OTHERS = [
    ({"go.mod": ""}, {"go test": "go test ./...", "go vet": "go vet ./..."}),
    ({"Cargo.toml": "[package]\nname='a'\n"}, {"cargo test": "cargo test"}),
    (
        {"Cargo.toml": "[workspace]\n[workspace.lints.clippy]\nall='warn'\n"},
        {"cargo test": "cargo test --workspace", "cargo clippy": "cargo clippy --workspace --all-targets"},
    ),
    ({"pom.xml": ""}, {"mvn test": "mvn -B test"}),
    ({"pom.xml": "", "mvnw": ""}, {"mvn test": "./mvnw -B test"}),
    ({"build.gradle.kts": "", "gradlew": ""}, {"gradle test": "./gradlew --console=plain test"}),
    (
        {"Makefile": "CC := gcc\n.PHONY: test lint\nall: x\nlint test: x\n\tcc\n"},
        {"make test": "make test", "make lint": "make lint"},
    ),
    ({"Makefile": "check:\n\ttrue\ntest := 1\n"}, {"make check": "make check"}),
    ({"Makefile": "build:\n\ttrue\n"}, {}),
    ({"Makefile": "test:\n\tpytest\n", "tests/test_a.py": ""}, {"pytest": "python3 -m pytest"}),
    ({"go.mod": "", "Makefile": "test:\n\tgo test -race -tags x ./...\n"}, {"go test": "go test -race -tags x ./...", "go vet": "go vet ./..."}),
    ({"go.mod": "", "Makefile": "test:\n\t$(GO) test ./...\n"}, {"go test": "go test ./...", "go vet": "go vet ./..."}),
    ({"CMakeLists.txt": "", "b/CMakeCache.txt": "", "b/CTestTestfile.cmake": ""}, {"ctest": "cmake --build b && ctest --test-dir b --output-on-failure"}),
    ({"CMakeLists.txt": "enable_testing()\n"}, {"ctest": "cmake --build build && ctest --test-dir build --output-on-failure"}),
    ({"CMakeLists.txt": "enable_testing()\n", "Makefile": "test:\n\tcc\n"}, {"make test": "make test"}),
    ({"CMakeLists.txt": "add_executable(a a.c)\n"}, {}),
    ({"meson.build": "", "out/meson-private/": ""}, {"meson test": "meson test -C out"}),
    ({"configure.ac": "", "config.status": "", "Makefile": "check: all\n"}, {"make check": "make check"}),
    ({"configure.ac": ""}, {"make check": "make check"}),
    ({"a.c": "", "tests/Makefile": "test: a\n\t./a\n"}, {"make -C tests test": "make -C tests test"}),
    ({"script/test": "#!/usr/bin/env ruby\nputs 1\n"}, {"script-test": "./script/test"}),
    ({"mix.exs": ""}, {"mix test": "mix test"}),
    ({"Gemfile": "", "spec/a.rb": ""}, {"bundle exec rspec": "bundle exec rspec"}),
    ({"composer.json": '{"scripts": {"test": "phpunit"}}'}, {"composer test": "composer test"}),
    ({"a.sln": ""}, {"dotnet test": "dotnet test"}),
    ({"MODULE.bazel": ""}, {"bazel test": "bazel test //..."}),
]  # fmt: skip


@pytest.mark.parametrize(("files", "checks"), OTHERS, ids=[" ".join(files) for files, _ in OTHERS])
def test_other_projects(project, files: dict[str, str], checks: dict[str, str]):
    assert found(project.all(files)) == checks


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("pyproject.toml", "[tool.ruff]\nx = = 1\n", 2),
        ("Cargo.toml", "[package\n", 1),
        ("package.json", '{\n "scripts": {,}\n}', 2),
        ("package.json", "[1]", 1),
        (".sdd/kotef.toml", "\n\nchecks = [\n", 4),
    ],
)
def test_a_broken_file_is_named_with_its_line(project, name: str, text: str, line: int):
    root = project.all({name: text})

    with pytest.raises(SpecError, match=rf"{name}:{line}: ") as error:
        collect_checks(root, options=[], ticket=[], architect=[])
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path):
    (tmp_path / "pyproject.toml").write_bytes(b"x = '\xff'")

    with pytest.raises(SpecError, match="not UTF-8"):
        detect(tmp_path)


def test_configured_checks_are_strings_or_tables(project):
    root = project.all(
        {
            ".sdd/kotef.toml": """
            checks = ["pytest -q", {command = "make e2e", name = "e2e/slow", role = "test", required = false}]
            """,
            "pyproject.toml": "[tool.kotef]\nchecks = ['never']\n",
        }
    )
    first, second = configured(root)

    assert (first.name, first.role, first.origin, first.required) == ("pytest -q", "test", "kotef.toml", True)
    assert (second.name, second.role, second.required) == ("e2e-slow", "test", False)
    (root / ".sdd" / "kotef.toml").write_text("# nothing\n")
    assert [(check.command, check.origin) for check in configured(root)] == [("never", "pyproject")]


@pytest.mark.parametrize(
    "checks",
    [
        "'pytest'",
        "[1]",
        "['']",
        "[{name='x'}]",
        "[{command='a', role='tests'}]",
        "[{command='a', rol='test'}]",
        "[{command='a', required='no'}]",
    ],
)
def test_a_wrong_entry_is_named(project, checks: str):
    root = project.all({".sdd/kotef.toml": f"checks = {checks}\n"})

    with pytest.raises(SpecError, match=r"kotef\.toml: .*checks"):
        configured(root)


def commands(root: Path, options=(), ticket=(), architect=()) -> list[tuple[str, str]]:
    collected = collect_checks(root, options=options, ticket=ticket, architect=architect)
    return [(check.command, check.origin) for check in collected]


def test_the_first_place_that_says_something_is_taken(project):
    root = project.all({"tests/test_a.py": "", "ruff.toml": ""})
    detected = [("python3 -m pytest", "detected"), ("ruff check .", "detected")]

    assert commands(root) == detected
    project.all({"pyproject.toml": "[tool.kotef]\nchecks = ['a']\n"})
    assert commands(root) == [("a", "pyproject")]
    project.all({".sdd/kotef.toml": "checks = ['b']\n"})
    assert commands(root) == [("b", "kotef.toml")]
    assert commands(root, ticket=["c", " ", "# note"]) == [("c", "ticket")]
    assert commands(root, ticket=["c"], options=["d"], architect=["e"]) == [("d", "option")]
    assert commands(root, ticket=["# note"], options=[" "]) == [("b", "kotef.toml")]


def test_quality_gates_join_the_ticket_and_fill_up_detection(project):
    root = project.all({"tests/test_a.py": "", "ruff.toml": ""})

    assert commands(root, ticket=["pytest  -q"], architect=["pytest -q", "mypy ."]) == [
        ("pytest -q", "ticket"),
        ("mypy .", "architect"),
    ]
    assert commands(root, architect=["ruff check src"]) == [
        ("python3 -m pytest", "detected"),
        ("ruff check src", "architect"),
    ]
    assert commands(root, architect=["make test"]) == [("ruff check .", "detected"), ("make test", "architect")]


def test_names_are_unique_short_and_fit_a_file_name(tmp_path: Path):
    long = [f"pytest tests/{'x' * 60}/test_{number}.py" for number in range(12)]
    checks = collect_checks(
        tmp_path,
        options=[*long, "uv run ruff check .", ".venv/bin/python -m pytest -q", "./x.sh", "äö; $(x)"],
        ticket=[],
        architect=[],
    )
    names = [check.name for check in checks]

    assert len({name.lower() for name in names}) == len(checks) == 16
    assert all(0 < len(name) <= detection.MAX_NAME and not set(name) & set("/;$()`'\"\n") for name in names)
    assert {"ruff check", "pytest -q", "x.sh"} <= set(names)


def test_a_test_program_that_ctest_does_not_know_is_run_itself(project):
    root = project.all(
        {
            "CMakeLists.txt": "add_executable(unit-tests a.cpp)\n",
            "build/CMakeCache.txt": "",
            "build/test/unit-tests": "",
            "build/test/unit-tests.o": "",
            "build/test/latest": "",
            "build/test/CMakeFiles/tests": "",
        }
    )
    assert found(root) == {}
    for name in ("unit-tests", "unit-tests.o", "latest", "CMakeFiles/tests"):
        (root / "build/test" / name).chmod(0o755)
    assert found(root) == {"unit-tests": "cmake --build build && build/test/unit-tests"}


def test_missing_dependencies_are_named_with_the_line_to_add(project):
    root = project.all({"package.json": '{"dependencies": {"a": "1"}}', "package-lock.json": "", "uv.lock": ""})
    lines = missing_dependencies(root)

    assert len(lines) == 2
    assert any('commands = ["npm ci"]' in line for line in lines)
    assert any('commands = ["uv sync"]' in line for line in lines)
    project.all({"node_modules/": "", ".venv/bin/python": ""})
    assert missing_dependencies(root) == ()


ENVIRONMENTS = [
    ("env/bin/python", "env/pyvenv.cfg"),
    ("anything/bin/python", "anything/pyvenv.cfg"),
    (".tox/py311/bin/python", ".tox/py311/pyvenv.cfg"),
    (".nox/tests/bin/python", ".nox/tests/pyvenv.cfg"),
    (".pixi/envs/default/bin/python", ".pixi/envs/default/x"),
]


@pytest.mark.parametrize("files", ENVIRONMENTS, ids=[files[0] for files in ENVIRONMENTS])
def test_an_environment_of_the_workspace_is_taken_wherever_its_tool_makes_it(project, files: tuple[str, str]):
    root = project.all({"pytest.ini": "", **dict.fromkeys(files, "")})

    assert found(root) == {"pytest": f"{files[0]} -m pytest"}


def test_of_several_environments_the_first_that_holds_the_runner_is_taken(project):
    names = (".venv", ".tox/lint", ".tox/py312", "env")
    root = project.all({"pytest.ini": "", **{f"{name}/bin/python": "" for name in names}})
    assert found(root)["pytest"] == ".venv/bin/python -m pytest"

    project.all({".tox/py312/lib/python3.12/site-packages/pytest/__init__.py": ""})
    assert found(root)["pytest"] == ".tox/py312/bin/python -m pytest"


def test_an_active_environment_counts_where_it_lies_in_the_workspace(project, monkeypatch: pytest.MonkeyPatch):
    root = project.all({"pytest.ini": "", "tools/env/bin/python": ""})
    monkeypatch.setenv("VIRTUAL_ENV", str(root / "tools/env"))
    assert found(root)["pytest"] == "tools/env/bin/python -m pytest"

    monkeypatch.setenv("VIRTUAL_ENV", str(root.parent / "elsewhere"))
    assert found(root)["pytest"] == "python3 -m pytest"


def test_the_environment_that_poetry_made_is_found_without_poetry(project, monkeypatch: pytest.MonkeyPatch, tmp_path):
    import base64
    import hashlib

    root = project.all({"pytest.ini": "", "poetry.lock": "", "pyproject.toml": "[project]\nname = 'My App'\n"})
    digest = base64.urlsafe_b64encode(hashlib.sha256(str(root.resolve()).encode()).digest()).decode()[:8]
    python = tmp_path / "cache" / "virtualenvs" / f"my_app-{digest}-py3.11" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("")
    monkeypatch.setenv("POETRY_CACHE_DIR", str(tmp_path / "cache"))

    assert found(root)["pytest"] == f"{python} -m pytest"


def eight(algorithm: str, path: Path) -> str:
    import base64
    import hashlib

    return base64.urlsafe_b64encode(hashlib.new(algorithm, str(path).encode()).digest()).decode()[:8]


def own_home(monkeypatch: pytest.MonkeyPatch, factory: pytest.TempPathFactory) -> Path:
    """A home in which no tool of the machine keeps anything."""
    home = factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    variables = (
        "PYENV_ROOT WORKON_HOME XDG_DATA_HOME HATCH_DATA_DIR CONDA_PREFIX MAMBA_ROOT_PREFIX NVM_DIR VOLTA_HOME FNM_DIR"
    )
    for name in variables.split():
        monkeypatch.delenv(name, raising=False)
    return home


STORES = {
    "hatch": (
        {"pyproject.toml": "[project]\nname = 'My.App_x'\n[tool.hatch.envs.default]\n"},
        lambda root: f".local/share/hatch/env/virtual/my-app-x/{eight('sha256', root)}/my-app-x",
    ),
    "hatch, another": (
        {"pyproject.toml": "[project]\nname = 'a'\n", "hatch.toml": ""},
        lambda root: f".local/share/hatch/env/virtual/a/{eight('sha256', root)}/test.py3.12",
    ),
    "pdm": ({"pdm.lock": ""}, lambda root: f".local/share/pdm/venvs/{root.name}-{eight('md5', root)}-3.12"),
    "virtualenvwrapper": ({}, lambda _: ".virtualenvs/anything"),
    "pyenv": ({".python-version": "my-env\n"}, lambda _: ".pyenv/versions/my-env"),
    "conda": ({"environment.yml": "name: my-env\n"}, lambda _: "miniforge3/envs/my-env"),
    "conda, elsewhere": ({"environment.yml": "dependencies: []\nname: 'my-env'\n"}, lambda _: "big disk/my-env"),
}


@pytest.mark.parametrize("tool", STORES)
def test_an_environment_outside_is_found_where_its_tool_keeps_it(project, tool: str, monkeypatch, tmp_path_factory):
    files, place = STORES[tool]
    root = project.all({"pytest.ini": "", **files})
    home = own_home(monkeypatch, tmp_path_factory)
    assert found(root)["pytest"] == "python3 -m pytest"

    prefix = home / place(root)
    (prefix / "bin").mkdir(parents=True)
    for name, text in {"bin/python": "", "pyvenv.cfg": "", ".project": str(root)}.items():
        (prefix / name).write_text(text)
    (home / ".conda").mkdir()
    (home / ".conda/environments.txt").write_text(f"{prefix}\n/elsewhere/my-env\n")
    assert found(root)["pytest"] == f"{shlex.quote(str(prefix / 'bin/python'))} -m pytest"

    other = tmp_path_factory.mktemp("elsewhere") / "other"
    shutil.copytree(root, other)
    by_name = {".python-version", "environment.yml"} & files.keys()
    assert (found(other)["pytest"] == "python3 -m pytest") == (not by_name)


def test_a_file_of_the_repository_names_no_program_of_the_machine(project, monkeypatch, tmp_path_factory):
    home = own_home(monkeypatch, tmp_path_factory)
    (home / "evil/bin").mkdir(parents=True)
    (home / "evil/bin/python").write_text("")
    (home / "evil/pyvenv.cfg").write_text("")
    path = str(home / "evil/bin/python")
    root = project.all({"pytest.ini": "", "pdm.lock": "", ".pdm-python": path, ".python-version": "../../evil\n"})
    project.all({"environment.yml": f"name: ../../evil\nprefix: {home / 'evil'}\n"})

    assert found(root)["pytest"] == "python3 -m pytest"


def test_the_packages_folder_of_pdm_is_used_with_its_version_of_python(project, programs: set[str]):
    root = project.all({"pytest.ini": "", "__pypackages__/3.12/lib/": ""})
    assert found(root)["pytest"] == "python3 -m pytest"
    programs.add("python3.12")
    assert found(root)["pytest"] == "PYTHONPATH=__pypackages__/3.12/lib python3.12 -m pytest"


PACKAGES = {
    "api/pyproject.toml": "[project]\nname = 'shop-api'\n[tool.pytest.ini_options]\n",
    "services/mail/go.mod": "module example.com/mail\n",
    "web/package.json": '{"name": "@shop/front", "scripts": {"test": "vitest run"}}',
    "web/node_modules/x/package.json": '{"scripts": {"test": "x"}}',
    "examples/a/go.mod": "module a\n",
    "docs/package.json": '{"scripts": {"test": "x"}}',
}
OF_PACKAGES = {
    "api": "cd api && python3 -m pytest --rootdir=..",
    "services-mail": "cd services/mail && go test ./...",
    "web": "cd web && npm test",
}


@pytest.mark.parametrize(
    ("concerning", "packages"),
    [
        ("", OF_PACKAGES),
        ("fix the totals", OF_PACKAGES),
        ("services/mail/send.go", ["services-mail"]),
        ("fix shop-api, please", ["api"]),
        ("@shop/front shows nothing", ["web"]),
        ("web/src/a.ts\napi/b.py", ["api", "web"]),
        ("the webhook of example.com/mailing", OF_PACKAGES),
    ],
)
def test_without_tests_at_the_root_those_of_the_packages_a_task_concerns_are_run(project, concerning: str, packages):
    root = project.all(PACKAGES)
    tests = {
        check.name.split(" ")[0]: check.command for check in detect(root, concerning=concerning) if check.role == "test"
    }

    assert list(tests.values()) == [OF_PACKAGES[name] for name in packages]
    assert all(name.startswith(tuple(packages)) for name in tests)
    assert all(check.source.partition("/")[0] in PACKAGES or "/" in check.source for check in detect(root))


def test_tests_at_the_root_speak_for_its_packages(project):
    root = project.all({**PACKAGES, "package.json": '{"scripts": {"test": "x"}}'})
    assert found(root) == {"npm test": "npm test"}
    (root / "package.json").write_text('{"workspaces": ["*"], "scripts": {"lint": "eslint ."}}')
    assert found(root)["npm test --workspaces"] == "npm test --workspaces --if-present"
    assert [check.command for check in detect(root, concerning="web/a.ts")] == ["npm run lint", "cd web && npm test"]


def test_many_packages_are_bounded_and_one_that_is_broken_stops_no_other(project):
    root = project.all({f"packages/p{at:02}/go.mod": "" for at in range(30)} | {"packages/p00/pyproject.toml": "[["})
    tests = [check.command for check in detect(root) if check.role == "test"]

    assert len(tests) == 8
    assert "cd packages/p00 && go test ./..." not in tests


def test_a_package_without_an_environment_uses_that_of_the_root(project):
    files = {".venv/bin/python": "", ".venv/bin/ruff": "", "packages/a/pytest.ini": "", "packages/a/ruff.toml": ""}
    root = project.all({**files, "packages/a/setup.py": ""})
    assert sorted(found(root).values()) == [
        "cd packages/a && ../../.venv/bin/python -m pytest --rootdir=../..",
        "cd packages/a && ../../.venv/bin/ruff check .",
    ]
    project.all({"packages/a/venv/bin/python": ""})
    assert "cd packages/a && venv/bin/python -m pytest --rootdir=../.." in found(root).values()


NODES = [
    ({".nvmrc": "v18\n"}, "v18.20.1"),
    ({".nvmrc": "18.19.0"}, "v18.19.0"),
    ({".nvmrc": "lts/hydrogen"}, "v18.20.1"),
    ({".node-version": "20"}, "v20.9.0"),
    ({".tool-versions": "python 3.12\nnodejs 20.9.0\n"}, "v20.9.0"),
    ({"mise.toml": "[tools]\nnode = '20'\n"}, "v20.9.0"),
    ({".nvmrc": "16"}, ""),
    ({".nvmrc": "../../x"}, ""),
    ({".nvmrc": "lts/../../x"}, ""),
    ({}, ""),
]


@pytest.mark.parametrize(("files", "version"), NODES, ids=range(len(NODES)))
def test_the_node_that_is_asked_for_is_used_where_a_version_manager_has_it(
    project, files: dict[str, str], version: str, monkeypatch, tmp_path_factory
):
    nvm = own_home(monkeypatch, tmp_path_factory) / ".nvm"
    for name in ("v18.9.9", "v18.19.0", "v18.20.1", "v20.9.0"):
        (nvm / "versions/node" / name / "bin").mkdir(parents=True)
        (nvm / "versions/node" / name / "bin/node").write_text("")
    (nvm / "alias/lts").mkdir(parents=True)
    (nvm / "alias/lts/hydrogen").write_text("v18.20.1\n")
    root = project.all({"package.json": '{"scripts": {"test": "jest", "lint": "x"}}', **files})

    front = f'PATH="{nvm}/versions/node/{version}/bin:$PATH" ' if version else ""
    assert found(root) == {"npm test": f"{front}npm test", "npm lint": f"{front}npm run lint"}


def workflow(*steps: str, job: str = "") -> str:
    lines = "".join(f"      - {step}\n" for step in steps)
    return f"on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n{job}    steps:\n{lines}"


def run(*lines: str) -> str:
    return "run: |\n" + "".join(f"          {line}\n" for line in lines)


CI = ".github/workflows/test.yml"
HINTS = [
    ({CI: workflow("uses: actions/checkout@v4", run("pip install -e .", "python -m unittest -v"))}, "python3 -m unittest -v"),
    ({CI: workflow(run("coverage run -m unittest discover -s tests", "coverage xml"))}, "python3 -m unittest discover -s tests"),
    ({CI: workflow(run("uv run pytest -n auto --cov=a", "x"))}, "python3 -m pytest"),
    ({CI: workflow(run("python -m pytest ${{ matrix.args }}"))}, ""),
    ({CI: workflow(run("docker compose up -d"), run("python -m unittest"))}, ""),
    ({CI: workflow(run("python -m unittest"), job="    services: {db: {image: x}}\n")}, ""),
    ({CI: workflow(run("python -m unittest") + "        if: matrix.x\n")}, ""),
    ({CI: workflow(run("python -m unittest") + "        working-directory: sub\n")}, ""),
    ({CI: workflow(run("python -m unittest") + "        env: {TOKEN: '${{ secrets.X }}'}\n")}, ""),
    ({CI: workflow(run("python -m unittest") + "        env: {MODE: fast, FORCE_COLOR: 1}\n")}, "MODE=fast python3 -m unittest"),
    ({CI: workflow(run("python -m unittest a"), run("python -m unittest b"))}, ""),
    ({CI: workflow(run("python -m unittest"), run("python -m unittest b"))}, "python3 -m unittest"),
    ({CI: workflow(run("python -m unittest; rm -rf /"))}, ""),
    ({CI: workflow(run("python -m unittest $(curl x)"))}, ""),
    ({CI: workflow(run("tox -e py")), "tox.ini": ""}, ""),
    ({CI: workflow(run("python -m unittest -v")), "Makefile": "test:\n\tpython -m unittest -q\n"}, "python3 -m unittest -q"),
    ({CI: workflow(run("python -m unittest -v")), "pytest.ini": ""}, "python3 -m pytest"),
    ({".gitlab-ci.yml": "t:\n  before_script: [pip install x]\n  script:\n    - python -m unittest -q\n"}, "python3 -m unittest -q"),
    ({".gitlab-ci.yml": "t:\n  services: [postgres]\n  script: python -m unittest -q\n"}, ""),
    ({".circleci/config.yml": "jobs:\n  a:\n    docker: [{image: x}]\n    steps: [checkout, {run: {name: t, command: python -m unittest}}]\n"}, "python3 -m unittest"),
    ({"azure-pipelines.yml": "jobs:\n- job: a\n  steps:\n  - script: python -m unittest\n"}, "python3 -m unittest"),
    ({".travis.yml": "script:\n  - python -m unittest\n"}, "python3 -m unittest"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "command"), HINTS, ids=range(len(HINTS)))
def test_a_ci_workflow_is_a_hint_after_what_is_declared(project, files: dict[str, str], command: str):
    root = project.all({"setup.py": "", "tests/test_a.py": "import unittest\n", **files})
    (check,) = (check for check in detect(root) if check.role == "test")
    assert check.command == (command or "python3 -m pytest")
    hinted = command and "Makefile" not in files and "pytest.ini" not in files
    assert check.source.startswith("CI workflow ") == bool(hinted)


def test_a_ci_workflow_names_the_tests_of_other_projects(project):
    root = project.all({CI: workflow(run("npm ci", "npm run build", "npm run test:unit")), "package.json": '{"scripts": {"test:unit": "jest", "test:ci": "x"}}'})  # fmt: skip
    assert found(root) == {"npm run test-unit": "npm run test:unit"}
    assert detect(root)[0].source == "CI workflow test.yml"

    (root / CI).write_text(workflow(run("prove -lr t")))
    assert found(root) == {"npm run test-unit": "npm run test:unit"}
    assert detect(root)[0].source == "package.json: scripts.test:unit"
    (root / "package.json").unlink()
    assert found(root) == {"prove t": "prove -lr t"}


BOMB = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 30))


@pytest.mark.parametrize(
    "text",
    ["[" * 40_000, "- " * 20_000, BOMB + "jobs: *a29\n", "jobs: &a [*a]\n", "!!python/object/apply:os.system [touch x]\n",
     "a: b: c", "\x00", "jobs: {a: {steps: [" + "{run: pytest}," * 3_000 + "]}}", "x" * 500_000, "jobs: {a: 1, b: [], c: {steps: {}}}"],
    ids=range(10),
)  # fmt: skip
def test_a_hostile_workflow_costs_little_and_says_nothing(project, text: str):
    root = project.all(
        {"setup.py": "", "tests/test_a.py": "", CI: f"{text} # test", ".gitlab-ci.yml": f"{text} # test"}
    )

    with bounded_cpu():
        assert found(root) == {"pytest": "python3 -m pytest"}
    assert not (root / "x").exists()


DJANGO = "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'a.settings')\n"


def test_a_django_project_is_run_by_its_own_runner(project):
    root = project.all({"manage.py": DJANGO, "shop/tests.py": "from django.test import TestCase\n"})
    assert found(root) == {"manage.py test": "python3 manage.py test"}

    (root / "shop/tests.py").write_text("import pytest\n")
    assert found(root) == {}
    project.all({"tests/test_a.py": "import pytest\n"})
    assert found(root) == {"pytest": "python3 -m pytest"}


def test_a_script_that_runs_the_tests_is_taken_before_pytest(project):
    tox = "[testenv]\nchangedir = tests\ncommands = {envpython} runtests.py {posargs}\n"
    root = project.all({"tox.ini": tox, "tests/runtests.py": "import django\n", "tests/a/test_a.py": ""})
    assert found(root) == {"runtests.py": "python3 tests/runtests.py"}

    (root / "tests/runtests.py").write_text("print('no tests')\n")
    assert found(root) == {"pytest": "python3 -m pytest"}


def test_each_detected_check_says_where_it_came_from(project):
    root = project.all({"pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n", "setup.cfg": "[mypy]\n"})

    assert [check.source for check in detect(root)] == [
        "pyproject.toml: tool.pytest",
        "pyproject.toml: tool.ruff",
        "setup.cfg: mypy",
    ]


@pytest.mark.parametrize("name", ["bin/test", "scripts/test", "Makefile", "justfile", "noxfile.py", "tests/test_a.py"])
def test_a_file_that_only_hints_may_hold_anything(tmp_path: Path, name: str):
    (tmp_path / "setup.py").write_text("")
    place = tmp_path / name
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(b"\x7fELF\xff\xfe\x00test:\n\tx\xe9\n")

    assert not any(check.command.endswith(name) for check in detect(tmp_path))
    place.unlink()
    place.symlink_to("/etc/passwd")
    detect(tmp_path)
