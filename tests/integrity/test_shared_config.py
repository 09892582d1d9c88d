"""Of shared files only the judging tables are put back; everything else stays the coder's."""

import json
import tomllib
from configparser import ConfigParser
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.integrity.shared_config import SHARED, put_tables_back

PYPROJECT = """\
# the project
[project]
name = "n" # short

[tool.pytest.ini_options]
# what runs
addopts = "-q"

[tool.ruff]
line-length = 100

[tool.ruff.lint]
select = ["ALL"]

[tool.setuptools]
packages = ["n"]
"""


def spliced(path: str, before: str | None, now: str) -> tuple[str, tuple[str, ...]] | None:
    done = put_tables_back(path, None if before is None else before.encode(), now.encode())
    return (done.content.decode(), done.tables) if done else None


CARGO = '[package]\nname = "n"\n\n[dependencies]\n\n[[test]]\nname = "all"\npath = "checks/all.rs"\n'


@pytest.mark.parametrize(
    ("path", "before", "now", "kept", "tables"),
    [
        pytest.param(
            "Cargo.toml",
            CARGO,
            CARGO.replace('checks/all.rs"', 'none.rs"\nharness = false').replace(
                "[dependencies]", "[dependencies]\nx = 1"
            ),
            CARGO.replace("[dependencies]", "[dependencies]\nx = 1"),
            ("test",),
            id="targets and harness of Cargo",
        ),
        pytest.param(
            "composer.json",
            '{"scripts": {"test": "phpunit"}}',
            '{"require": {"a": "1"}, "scripts": {"test": "true", "new": "x"}}',
            '{"require": {"a": "1"}, "scripts": {"test": "phpunit", "new": "x"}}',
            ("scripts.test",),
            id="scripts of composer",
        ),
        pytest.param(
            "deno.json",
            '{"tasks": {"test": "deno test"}}',
            '{"imports": {"a": "./a.ts"}, "tasks": {"test": "true"}, "test": {"exclude": ["*"]}}',
            '{"imports": {"a": "./a.ts"}, "tasks": {"test": "deno test"}}',
            ("tasks.test", "test"),
            id="tasks of deno",
        ),
    ],
)
def test_manifests_of_other_languages_judge_as_well(
    path: str, before: str, now: str, kept: str, tables: tuple[str, ...]
) -> None:
    done = put_tables_back(path, before.encode(), now.encode())

    assert done is not None
    assert done.content.decode() == kept
    assert set(done.tables) == set(tables)


def test_an_edit_beside_the_judging_tables_is_left_byte_for_byte():
    now = PYPROJECT.replace('name = "n"', 'name   =   "m"').replace('["n"]', '["n", "m"]')

    assert spliced("pyproject.toml", PYPROJECT, now) is None


def test_comments_and_format_of_both_sides_stay():
    now = (
        PYPROJECT.replace("# short", "# long")
        .replace('addopts = "-q"', 'addopts = "-k none"')
        .replace("# what runs", "")
    )

    assert spliced("pyproject.toml", PYPROJECT, now) == (
        PYPROJECT.replace("# short", "# long"),
        ("tool.pytest.ini_options",),
    )


@pytest.mark.parametrize(
    ("now", "tables"),
    [
        (PYPROJECT.replace('["ALL"]', "[]"), ("tool.ruff.lint",)),
        (PYPROJECT.replace("100", "999").replace('["ALL"]', "[]"), ("tool.ruff",)),
        (PYPROJECT + '[project.entry-points.pytest11]\nx = "n:x"\n', ("project.entry-points.pytest11",)),
        (PYPROJECT + '[tool.coverage.run]\nomit = ["*"]\n', ("tool.coverage.run",)),
        (PYPROJECT + '[tool.hatch.envs.test]\nscripts.run = "true"\n', ("tool.hatch.envs.test.scripts",)),
        ("", ("tool.pytest.ini_options", "tool.ruff")),
    ],
)
def test_the_smallest_table_that_changed_is_named(now: str, tables: tuple[str, ...]):
    done = spliced("pyproject.toml", PYPROJECT, now)

    assert done is not None
    assert done[1] == tables


def test_scripts_that_were_there_and_their_hooks_judge_new_ones_do_not():
    before = '{"name": "n", "scripts": {"test": "jest", "lint": "eslint ."}}'
    now = (
        '{\n    "name": "m",\n    "scripts": {"pretest": "x", "test": "true", "start": "node ."},\n    "jest": {}\n}\n'
    )
    done = spliced("web/package.json", before, now)

    assert done is not None
    assert json.loads(done[0]) == {"name": "m", "scripts": {"start": "node .", "test": "jest", "lint": "eslint ."}}
    assert done[0].startswith('{\n    "name"')
    assert done[0].endswith("}\n")
    assert done[1] == ("jest", "scripts.lint", "scripts.pretest", "scripts.test")


def test_sections_of_setup_cfg_are_exchanged_as_text():
    before = "[metadata]\nname = n\n\n[tool:pytest]\n# quiet\naddopts = -q\n\n[flake8]\nignore = E1\n"
    now = "[flake8]\nignore = E, W, F\n\n[metadata]\nname = m\n[DEFAULT]\naddopts = -k none\n"

    assert spliced("setup.cfg", before, now) == (
        "[flake8]\nignore = E1\n[metadata]\nname = m\n[tool:pytest]\n# quiet\naddopts = -q\n\n",
        ("DEFAULT", "flake8", "tool:pytest"),
    )


@pytest.mark.parametrize("path", ["pyproject.toml", "package.json", "setup.cfg"])
@pytest.mark.parametrize("now", ["[tool", "{", "\ud800 no", "", "\0", "[" * 100_000])
def test_what_cannot_be_read_any_more_is_put_back_whole(path: str, now: str):
    before = {
        "pyproject.toml": PYPROJECT,
        "package.json": '{"scripts": {"test": "jest"}}',
        "setup.cfg": "[flake8]\nmax=1\n",
    }
    content = now.encode("utf-8", "surrogatepass")
    done = put_tables_back(path, before[path].encode(), content)

    assert done is not None
    assert done.content.decode().strip() == before[path].strip() or done.tables


def test_of_a_new_file_the_judging_tables_go_and_the_rest_stays():
    done = spliced("pyproject.toml", None, PYPROJECT)

    assert done is not None
    assert tomllib.loads(done[0]) == {"project": {"name": "n"}, "tool": {"setuptools": {"packages": ["n"]}}}
    assert "# short" in done[0]
    assert spliced("pyproject.toml", None, "[broken") is None, "its tool will say so"


LEAVES = st.one_of(
    st.integers(0, 9), st.booleans(), st.text("ab#\"'[]=\n é", max_size=6), st.lists(st.integers(0, 3), max_size=2)
)


def tables_of(names: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    inner = st.dictionaries(st.sampled_from(["a", "b", "c d"]), LEAVES, max_size=3)
    deeper = st.dictionaries(st.sampled_from(["a", "x"]), st.one_of(LEAVES, inner), max_size=3)
    return st.dictionaries(st.sampled_from(names), deeper, max_size=4)


TOOLS = ["pytest", "ruff", "mypy", "poetry", "other", "setuptools"]
JUDGING = {"pytest", "ruff", "mypy"}


def part(tables: dict[str, Any], *, judging: bool) -> dict[str, Any]:
    return {name: table for name, table in tables.items() if (name in JUDGING) is judging}


def without_empty(tables: Any) -> Any:
    if not isinstance(tables, dict):
        return tables
    inner = {key: without_empty(value) for key, value in tables.items()}
    return {key: value for key, value in inner.items() if value != {}}


@example_count(150)
@given(tables_of(TOOLS), tables_of(TOOLS), st.booleans())
def test_toml_judging_tables_are_the_baselines_and_all_else_is_the_coders(before, now, inline):
    first = tomlkit.dumps({"tool": before, "project": {"name": "old"}})
    second = tomlkit.dumps({"project": {"name": "new"}, "tool": now})
    if inline:
        body = ", ".join(f"{tomlkit.key(name).as_string()} = {{}}" for name in TOOLS[:2])
        second = f"tool = {{ {body} }}\n[project]\nname = 'new'\n"
        now = {}
    done = put_tables_back("pyproject.toml", first.encode(), second.encode())
    result = tomllib.loads(done.content.decode() if done else second)
    found = result.get("tool", {})

    assert result["project"] == {"name": "new"}
    assert part(found, judging=True) == part(before, judging=True), "also an empty table can take a runner's attention"
    assert without_empty(part(found, judging=False)) == without_empty(part(now, judging=False))
    assert (done is None) == (part(before, judging=True) == part(now, judging=True)) or inline


KEYS = st.sampled_from(["name", "jest", "eslintConfig", "dependencies", "type", "prettier"])
VALUES = st.one_of(LEAVES, st.dictionaries(st.text("ab", min_size=1, max_size=2), LEAVES, max_size=2))
SCRIPTS = st.dictionaries(
    st.sampled_from(["test", "pretest", "lint", "start"]), st.sampled_from(["x", "y"]), max_size=4
)
PACKAGES = st.tuples(st.dictionaries(KEYS, VALUES, max_size=5), SCRIPTS).map(lambda two: {**two[0], "scripts": two[1]})


@example_count(150)
@given(PACKAGES, PACKAGES, st.sampled_from([None, 2, "\t"]))
def test_json_judging_keys_are_the_baselines_and_all_else_is_the_coders(before, now, indent):
    done = put_tables_back("package.json", json.dumps(before).encode(), json.dumps(now, indent=indent).encode())
    result = json.loads(done.content) if done else now
    judging = {"jest", "eslintConfig", "prettier"}

    assert {k: v for k, v in result.items() if k in judging} == {k: v for k, v in before.items() if k in judging}
    rest = {k: v for k, v in now.items() if k not in judging | {"scripts"}}
    assert {k: v for k, v in result.items() if k not in judging | {"scripts"}} == rest
    kept = {name: line for name, line in result["scripts"].items() if name in before["scripts"]}
    assert kept == before["scripts"]
    assert not ({"pretest"} & result["scripts"].keys() - before["scripts"].keys() and "test" in before["scripts"])
    if done and indent and "\n" in done.content.decode():
        assert f'\n{indent if isinstance(indent, str) else " " * indent}"' in done.content.decode()


SECTIONS = st.lists(
    st.tuples(
        st.sampled_from(["metadata", "options", "flake8", "tool:pytest", "coverage:run", "x"]),
        st.dictionaries(st.sampled_from(["a", "B", "c"]), st.sampled_from(["1", "two", "a\n  b"]), max_size=3),
    ),
    max_size=5,
    unique_by=lambda section: section[0],
)


def as_ini(sections: list[tuple[str, dict[str, str]]]) -> str:
    return "\n".join(f"[{name}]\n" + "".join(f"{k} = {v}\n" for k, v in options.items()) for name, options in sections)


def read_ini(text: str) -> dict[str, dict[str, str]]:
    parser = ConfigParser(interpolation=None)
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser.sections()}


@example_count(150)
@given(SECTIONS, SECTIONS)
def test_ini_judging_sections_are_the_baselines_and_all_else_is_the_coders(before, now):
    done = put_tables_back("setup.cfg", as_ini(before).encode(), as_ini(now).encode())
    result = read_ini(done.content.decode() if done else as_ini(now))
    judging = {"flake8", "tool:pytest", "coverage:run"}

    old, new = read_ini(as_ini(before)), read_ini(as_ini(now))
    assert {k: v for k, v in result.items() if k in judging} == {k: v for k, v in old.items() if k in judging}
    assert {k: v for k, v in result.items() if k not in judging} == {k: v for k, v in new.items() if k not in judging}


@example_count(100)
@given(st.sampled_from(SHARED), st.binary(max_size=60), st.binary(max_size=60))
def test_any_bytes_are_answered(path: str, before: bytes, now: bytes):
    done = put_tables_back(path, before, now)
    assert done is None or done.content == before or done.tables
