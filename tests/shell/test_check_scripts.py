"""Which files the check commands come to run, behind make, npm and scripts."""

import pytest

from kotef.shell.check_scripts import names_behind

MAKEFILE = """\
PY := python
.PHONY: all test deploy

all: deploy
test: unit lint ## everything
\t@echo done
unit:
\t@bash build/unit.sh \\
\t  --fast
lint: ; sh build/lint.sh
deploy:
\t./deploy.sh
"""
FILES = {
    "Makefile": MAKEFILE,
    "build/unit.sh": "#!/bin/sh\nset -e\nif true; then ./build/inner.sh; fi\npython -m unittest\n",
    "build/inner.sh": "exec python tools/check_all.py\n",
    "build/lint.sh": "ruff check src/app.py\n",
    "tools/check_all.py": "import helper\nimport subprocess\nsubprocess.run(['sh', 'build/deep.sh'])\n",
    "tools/helper.py": "x = 1\n",
    "build/deep.sh": "true\n",
    "deploy.sh": "true\n",
    "src/app.py": "x = 1\n",
    "package.json": '{"scripts": {"pretest": "sh js/pre.sh", "test": "npm run unit", "unit": "node js/test-all.js", "start": "sh js/start.sh"}}',
    "js/pre.sh": "true\n",
    "js/test-all.js": "1\n",
    "js/start.sh": "true\n",
    "tox.ini": "[testenv]\ncommands =\n    bash tox/run.sh\n    pytest\n",
    "tox/run.sh": "true\n",
    "noxfile.py": "def tests(session):\n    session.run('bash', 'nox/run.sh', external=True)\n",
    "nox/run.sh": "true\n",
    "justfile": "test: build\n    sh just/test.sh\nbuild:\n    sh just/build.sh\nother:\n    sh just/other.sh\n",
    "just/test.sh": "true\n",
    "just/build.sh": "true\n",
    "just/other.sh": "true\n",
    "sub/Makefile": "check:\n\tsh run.sh\n",
    "sub/run.sh": "true\n",
}


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("make test", {"build/unit.sh", "build/inner.sh", "build/lint.sh", "tools/check_all.py", "tools/helper.py"}),
        ("make", {"deploy.sh"}),
        ("npm test", {"js/pre.sh", "js/test-all.js"}),
        ("tox -q", {"tox/run.sh"}),
        ("nox", {"nox/run.sh"}),
        ("just test", {"just/test.sh", "just/build.sh"}),
        ("make -C sub check", {"sub/run.sh"}),
        ("sh build/inner.sh", {"build/inner.sh", "tools/check_all.py", "tools/helper.py", "build/deep.sh"}),
        ("python -m pytest", set()),
        ("ruff check src/app.py", set()),
        ("sh gone.sh && echo 'open", set()),
    ],
)
def test_what_a_command_comes_to_run(command: str, found: set[str]):
    assert names_behind([command], FILES.get).found == found


def test_scripts_that_call_each_other_end():
    files = {"a.sh": "sh b.sh\n", "b.sh": "sh a.sh\n"}

    assert names_behind(["sh a.sh"], files.get).found == {"a.sh", "b.sh"}


def test_nothing_is_followed_in_hostile_files():
    files = {"Makefile": "test: test\n\t$(MAKE) test\n\t\0\n", "package.json": "[" * 50_000, "a.sh": "\ud800" * 99}

    assert names_behind(["make test", "npm test", "sh a.sh"], files.get).found == {"a.sh"}


@pytest.mark.parametrize(
    ("command", "files", "found", "awaited"),
    [
        (
            "make test",
            {"Makefile": "include config.mk\n-include local.mk parts/*.mk $(X).mk\ntest:\n\ttrue\n", "config.mk": ""},
            {"config.mk"},
            {"config.mk", "local.mk", "parts/*.mk"},
        ),
        (
            "make -C sub",
            {"sub/Makefile": "sinclude a.mk\n", "sub/a.mk": "include b.mk\n", "sub/b.mk": ""},
            {"sub/a.mk", "sub/b.mk"},
            {"sub/a.mk", "sub/b.mk"},
        ),
        (
            "sh c.sh",
            {"c.sh": "[ -f .env ] && . ./.env\nsource lib.sh\n", "lib.sh": ""},
            {"lib.sh", "c.sh"},
            {".env", "lib.sh"},
        ),
        (
            "sh c.sh",
            {"c.sh": 'D=$(dirname $0)\n. "$D/lib.sh"\n. $(dirname $0)/more.sh\nsource "$X"\n. "${D}/$Y"\n'},
            {"c.sh"},
            {"**/lib.sh", "**/more.sh"},
        ),
        ("python -m pytest . tests", {}, set(), set()),
        ("sh c.sh", {"c.sh": '[ -n "$(./greet Bob)" ]\n', "greet": "echo hi\n"}, {"c.sh"}, set()),
        ("sh c.sh", {"c.sh": "./greet Bob | grep -q Bob || exit 1\n", "greet": "echo hi\n"}, {"c.sh"}, set()),
        ("sh c.sh", {"c.sh": "./run-tests | grep -q passed\n", "run-tests": ""}, {"c.sh", "run-tests"}, set()),
    ],
)
def test_what_is_included_and_sourced_is_behind_too(command, files, found, awaited) -> None:
    behind = names_behind([command], files.get)
    assert behind.found - {"Makefile"} == found
    assert behind.awaited == awaited
