"""Which paths are put back before judging, and which globs open them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cpu_time import bounded_cpu

from kotef.files import matches_globs
from kotef.integrity.protected_files import is_protected, protected_paths


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_a.py", "tests/helpers/util.py", "tests/data/in.json", "pkg/tests/x.txt", "test/a.rb", "test_a.py",
        "src/a_test.py", "conftest.py", "src/conftest.py", "pkg/a_test.go", "pkg/testdata/x", "src/a.test.ts",
        "src/a.spec.tsx", "src/__tests__/a.js", "src/__snapshots__/a.snap", "src/test/java/ATest.java", "spec/a_spec.rb",
        "spec/spec_helper.rb", "pytest.ini", "tox.ini", "noxfile.py", ".coveragerc", "jest.config.js", "vitest.config.mts",
        ".eslintrc", ".eslintrc.json", "eslint.config.mjs", ".prettierrc", "biome.json", "mypy.ini", "ruff.toml", ".ruff.toml",
        ".flake8", "Makefile", "sub/Makefile", ".github/workflows/ci.yml", ".gitlab-ci.yml", ".pre-commit-config.yaml",
        "sitecustomize.py", "src/x.pth", ".sdd/project.md", ".sdd/backlog/tickets/open/1.md", ".ci/run", "pyrightconfig.json",
    ],
)  # fmt: skip
def test_what_judges_is_protected(path: str):
    assert is_protected(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/a.py", "attests/a.py", "latest/a.py", "contest.py", "src/testing.py", "testing/a.py", "pyproject.toml",
        "package.json", "setup.cfg", "docs/spec/api.yaml", "README.md", "src/makefile.py", "sdd/x", "a/.sdd.txt", "test.py.txt",
    ],
)  # fmt: skip
def test_product_code_and_shared_files_are_not(path: str):
    assert not is_protected(path)


def test_scripts_and_configuration_of_the_commands_are_protected():
    paths = ["scripts/test.sh", "ci.ini", "run.sh", "src/app.py", "tests/test_a.py", "ci/check.py", "new.txt"]
    commands = [
        "./scripts/test.sh -v",
        "cd . && bash run.sh",
        "mypy --config-file=ci.ini src/app.py",
        "python src/app.py",
        "python ci/check.py",
    ]

    assert protected_paths(paths, allow=(), commands=commands) == {
        "scripts/test.sh",
        "run.sh",
        "ci.ini",
        "tests/test_a.py",
        "ci/check.py",
    }


def test_allowed_globs_open_protected_paths():
    paths = ["tests/a/test_a.py", "tests/test_b.py", "run.sh"]

    assert protected_paths(paths, allow=("tests/a/**",), commands=["./run.sh"]) == {"tests/test_b.py", "run.sh"}
    assert protected_paths(paths, allow=("./tests/", "run.sh"), commands=["./run.sh"]) == frozenset()


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("tests/*.py", ["tests/a.py", "tests/.py"], ["tests/a/b.py", "xtests/a.py", "tests/a.pyc"]),
        ("tests/**", ["tests/a", "tests/a/b.py"], ["xtests/a", "tests2/a"]),
        ("tests/**/x.py", ["tests/x.py", "tests/a/b/x.py"], ["tests/xx.py", "x.py"]),
        ("**/x.py", ["x.py", "a/b/x.py"], ["ax.py"]),
        ("**", ["a", "a/b"], []),
        ("tests", ["tests", "tests/a/b"], ["testsa", "a/tests"]),
        ("a?c", ["abc"], ["ac", "a/c"]),
        ("[ab].py", ["a.py"], ["c.py", "ab.py"]),
        ("[!ab].py", ["c.py"], ["a.py", "/.py"]),
        ("a.b+(c)", ["a.b+(c)"], ["axb+(c)"]),
        ("[x", ["[x"], ["x"]),
        ("", [], ["", "a"]),
    ],
)
def test_globs(glob: str, yes: list[str], no: list[str]):
    assert [path for path in yes if not matches_globs(path, [glob])] == []
    assert [path for path in no if matches_globs(path, [glob])] == []


def test_no_glob_matches_nothing():
    assert not matches_globs("a", [])


PATHS = st.lists(st.text("ab.*[]!?+-^", min_size=1, max_size=5), min_size=1, max_size=4).map("/".join)


@given(PATHS, PATHS)
def test_any_glob_is_usable_and_a_directory_opens_what_is_in_it(glob: str, path: str):
    if matches_globs(path, [glob]) and not path.startswith("."):
        assert matches_globs(f"{path}/inside", [glob])


def test_ten_thousand_paths_are_judged_quickly():
    with bounded_cpu():
        protected_paths(
            [f"src/package_{number % 40}/{'deep/' * 8}module_{number}.py" for number in range(10_000)],
            allow=(),
            commands=(),
        )
