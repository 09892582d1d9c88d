"""Projects around a product: layout, runner and tests."""

import json
from dataclasses import dataclass, field
from random import Random

from support.worlds.products import DOMAINS, Case, Domain, cases_of

IGNORED = "__pycache__/\nbuild/\n*.egg-info/\n.cache/\n"
BARE = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q -p no:cacheprovider"
PYTHON = ("pytest", "unittest", "doctest", "script")


@dataclass
class Project:
    """A repository whose product is wrong, and the check that says so."""

    language: str
    runner: str
    layout: str
    form: str
    """Of the assertions."""
    domain: Domain
    function: str
    product: str
    """The path of the product's file."""
    importable: str
    """Its name for an import."""
    test: str
    """The path of the test."""
    check: str
    cases: list[Case]
    files: dict[str, str] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)
    helper: str = ""
    """The path of a module that the tests compare with."""
    front: str = ""
    """`make` or `npm` where the check is a target or script of it."""

    @property
    def params(self) -> str:
        return ", ".join(self.domain.params)

    def code(self, expression: str, name: str = "") -> str:
        """A function of the product's language that says this."""
        name = name or self.function
        if self.language == "python":
            return f"def {name}({self.params}):\n    return {expression}\n"
        if self.language == "go":
            return f"func {name}({self.params} int) int {{\n\treturn {expression}\n}}\n"
        return f"function {name}({self.params}) {{\n  return {expression};\n}}\n"

    @property
    def wrong(self) -> str:
        """The wrong expression, in the product's language."""
        return {"python": self.domain.wrong, "js": self.domain.js[1], "go": self.domain.go[1]}[self.language]

    @property
    def right(self) -> str:
        """The right expression, in the product's language."""
        return {"python": self.domain.right, "js": self.domain.js[0], "go": self.domain.go[0]}[self.language]

    def text(self, *, head: str = "", body: str = "", tail: str = "") -> str:
        """The product's file: what precedes its function, the function, what follows."""
        body = body or self.code(self.wrong)
        if self.language == "go":
            return f"package {self.layout}\n\n{head}{body}{tail}"
        if self.language == "js":
            return f"{head}{body}{tail}{self.exports}"
        return f"{head}{body}{tail}{self.command_line}"

    @property
    def exports(self) -> str:
        return (
            f"\nexport {{ {self.function} }};\n"
            if self.layout == "esm"
            else f"\nmodule.exports = {{ {self.function} }};\n"
        )

    @property
    def command_line(self) -> str:
        """What makes a command of the module, where the check calls it as one."""
        if self.runner != "script":
            return ""
        return (
            "\n\nif __name__ == '__main__':\n    import json as _json\n    import sys as _sys\n\n"
            f"    print({self.function}(*map(_json.loads, _sys.argv[1:])))\n"
        )


def project_of(rng: Random, runner: str = "", form: str = "") -> Project:
    """A project at random; Python most."""
    runner = runner or rng.choices(("pytest", "unittest", "doctest", "script", "node", "go"), (55, 17, 6, 7, 12, 3))[0]
    if runner == "node":
        return _node(rng)
    if runner == "go":
        return _go(rng)
    domain = rng.choice(DOMAINS)
    return {"pytest": _pytest, "unittest": _unittest, "doctest": _doctest, "script": _script}[runner](rng, domain, form)


def _python(rng: Random, domain: Domain, layout: str) -> tuple[str, str, dict[str, str]]:
    """Where the product is, what it is imported as, and what files belong to that layout."""
    module = rng.choice(domain.modules)
    package = rng.choice(("shop", "core", "app", "kit"))
    match layout:
        case "src":
            return f"src/{package}/{module}.py", f"{package}.{module}", {f"src/{package}/__init__.py": ""}
        case "package":
            return f"{package}/{module}.py", f"{package}.{module}", {f"{package}/__init__.py": ""}
    return f"{module}.py", module, {}


PYTEST_FORMS = ("plain", "swapped", "named", "table", "negated", "helper", "golden", "constant")


def _pytest(rng: Random, domain: Domain, form: str) -> Project:
    layout = rng.choice(("flat", "flat", "src", "package"))
    path, name, files = _python(rng, domain, layout)
    form = form or ("approx" if domain.is_float and rng.random() < 0.7 else rng.choice(PYTEST_FORMS))
    module = path.rpartition("/")[2][:-3]
    folder = "" if layout == "flat" and rng.random() < 0.6 else "tests/"
    function = rng.choice(domain.functions)
    cases = cases_of(domain, rng, rng.randint(1, 3))
    test = f"{folder}test_{module}.py"
    made = Project("python", "pytest", layout, form, domain, function, path, name, test, BARE, cases, files)
    if layout == "src":
        files["pyproject.toml"] = f'[project]\nname = "{module}"\n\n[tool.pytest.ini_options]\npythonpath = ["src"]\n'
    elif folder and rng.random() < 0.4 and form != "helper":
        files["tests/__init__.py"] = ""
    if form == "helper":
        made.helper = f"{folder}{rng.choice(('helpers', 'compare'))}_{module}.py"
        files[made.helper] = "def same(actual, expected):\n    assert actual == expected, (actual, expected)\n"
    if form == "golden":
        files["tests/data/expected.json"] = json.dumps([[list(case.args), case.expected] for case in cases], indent=1)
    files[test] = _pytest_text(made)
    files[path] = made.text()
    _finish(rng, made)
    return made


def _pytest_text(made: Project) -> str:
    function, cases = made.function, made.cases
    head = f"from {made.importable} import {function}\n\n\n"
    match made.form:
        case "table":
            rows = "".join(f"        ({case.call}, {case.expected!r}),\n" for case in cases)
            names = ", ".join((*made.domain.params, "expected"))
            return (
                f"import pytest\n\n{head}@pytest.mark.parametrize(\n    '{names}',\n    [\n{rows}    ],\n)\n"
                f"def test_{function}({names}):\n    assert {function}({made.params}) == expected\n"
            )
        case "golden":
            return (
                f"import json\nfrom pathlib import Path\n\n{head}def test_{function}():\n"
                f"    for args, expected in json.loads(Path('tests/data/expected.json').read_text()):\n"
                f"        assert {function}(*args) == expected\n"
            )
    lines = {
        "plain": "    assert {f}({a}) == {e}\n",
        "swapped": "    assert {e} == {f}({a})\n",
        "named": "    expected = {e}\n    actual = {f}({a})\n    assert actual == expected\n",
        "negated": "    assert not {f}({a}) != {e}\n",
        "helper": "    same({f}({a}), {e})\n",
        "approx": "    assert {f}({a}) == pytest.approx({e})\n",
        "constant": "    assert {f}({a}) == EXPECTED[{n}]\n",
    }
    if made.form == "helper":
        head = f"from {made.helper.rpartition('/')[2][:-3]} import same\n{head}"
    if made.form == "approx":
        head = f"import pytest\n\n{head}"
    if made.form == "constant":
        head = f"{head.rstrip()}\n\nEXPECTED = {[case.expected for case in cases]!r}\n\n\n"
    tests = [
        f"def test_{function}_{number}():\n"
        + lines[made.form].format(f=function, a=case.call, e=repr(case.expected), n=number)
        for number, case in enumerate(cases)
    ]
    return head + "\n\n".join(tests)


def _unittest(rng: Random, domain: Domain, form: str) -> Project:
    layout = rng.choice(("flat", "package"))
    path, name, files = _python(rng, domain, layout)
    form = form or (
        "almost" if domain.is_float and rng.random() < 0.7 else rng.choice(("equal", "true", "subtest", "helper"))
    )
    module = path.rpartition("/")[2][:-3]
    folder = "tests/" if layout == "package" else ""
    function = rng.choice(domain.functions)
    cases = cases_of(domain, rng, rng.randint(1, 3))
    test = f"{folder}test_{module}.py"
    check = rng.choice(("python -m unittest", "python -m unittest -q"))
    made = Project("python", "unittest", layout, form, domain, function, path, name, test, check, cases, files)
    if folder:
        files["tests/__init__.py"] = ""
    lines = {
        "equal": "        self.assertEqual({f}({a}), {e})\n",
        "true": "        self.assertTrue({f}({a}) == {e})\n",
        "almost": "        self.assertAlmostEqual({f}({a}), {e})\n",
        "helper": "        same({f}({a}), {e})\n",
        "subtest": "",
    }
    head = f"import unittest\n\nfrom {name} import {function}\n"
    if form == "helper":
        made.helper = f"{folder}compare_{module}.py"
        files[made.helper] = "def same(actual, expected):\n    assert actual == expected, (actual, expected)\n"
        head += f"from {'tests.' if folder else ''}compare_{module} import same\n"
    if form == "subtest":
        rows = "".join(f"            (({case.call},), {case.expected!r}),\n" for case in cases)
        body = (
            f"    def test_{function}(self):\n        for args, expected in [\n{rows}        ]:\n"
            f"            with self.subTest(args=args):\n                self.assertEqual({function}(*args), expected)\n"
        )
    else:
        body = "\n".join(
            f"    def test_{function}_{number}(self):\n"
            + lines[form].format(f=function, a=case.call, e=repr(case.expected))
            for number, case in enumerate(cases)
        )
    files[test] = f"{head}\n\nclass {function.title().replace('_', '')}Test(unittest.TestCase):\n{body}"
    files[path] = made.text()
    _finish(rng, made)
    return made


def _doctest(rng: Random, domain: Domain, form: str) -> Project:
    path, name, files = _python(rng, domain, "flat")
    function = rng.choice(domain.functions)
    cases = cases_of(domain, rng, rng.randint(1, 3))
    page = rng.choice(("README.md", "docs/usage.rst", "USAGE.txt"))
    check = f"PYTHONPATH=. python -m doctest {page}"
    made = Project("python", "doctest", "flat", "doctest", domain, function, path, name, page, check, cases, files)
    blocks = "".join(f"    >>> {function}({case.call})\n    {case.expected!r}\n" for case in cases)
    files[page] = (
        f"{function}\n{'=' * len(function)}\n\nHow it is used:\n\n    >>> from {name} import {function}\n{blocks}\n"
    )
    files[path] = made.text()
    _finish(rng, made)
    return made


SHELL = (
    (
        "greet",
        'echo "Hello, $1!"',
        'echo "Hello $1"',
        lambda rng: (rng.choice(("Ada", "Ben", "Cleo")),),
        lambda name: f"Hello, {name}!",
    ),
    (
        "plus",
        "echo $(($1 + $2))",
        "echo $(($1 - $2))",
        lambda rng: (rng.randint(2, 90), rng.randint(1, 90)),
        lambda a, b: str(a + b),
    ),
    (
        "shout",
        'echo "$1" | tr a-z A-Z',
        'echo "$1"',
        lambda rng: (rng.choice(("quiet", "calm", "still")),),
        lambda name: name.upper(),
    ),
)


def _script(rng: Random, domain: Domain, form: str) -> Project:
    if rng.random() < 0.5:
        return _shell(rng)
    path, name, files = _python(rng, domain, "flat")
    function = rng.choice(domain.functions)
    cases = cases_of(domain, rng, rng.randint(1, 3))
    test = rng.choice(("check.sh", "scripts/check.sh", "tests/run.sh"))
    made = Project("python", "script", "flat", "script", domain, function, path, name, test, f"sh {test}", cases, files)
    lines = []
    for case in cases:
        words = " ".join(f"'{json.dumps(arg)}'" for arg in case.args)
        lines.append(f'[ "$(python {path} {words})" = "{case.expected}" ] || {{ echo failed {words}; exit 1; }}\n')
    files[test] = "".join(lines) + "echo all good\n"
    files[path] = made.text()
    _finish(rng, made)
    return made


def _shell(rng: Random) -> Project:
    name, right, wrong, draw, tell = rng.choice(SHELL)
    cases: list[Case] = []
    for _ in range(rng.randint(1, 2)):
        args = draw(rng)
        if all(case.args != args for case in cases):
            cases.append(Case(args, tell(*args)))
    test = rng.choice(("check.sh", "tests/check.sh"))
    domain = Domain((name,), (name,), (), right, wrong, draw)
    made = Project("sh", "script", "flat", "script", domain, name, name, name, test, f"sh {test}", cases)
    lines = [
        f'[ "$(./{name} {" ".join(map(str, case.args))})" = "{case.expected}" ] || {{ echo "failed"; exit 1; }}\n'
        for case in cases
    ]
    made.files = {name: f"#!/bin/sh\n{wrong}\n", test: "".join(lines) + "echo ok\n", ".gitignore": IGNORED}
    made.modes = {name: 0o755}
    return made


def _node(rng: Random) -> Project:
    domain = rng.choice([domain for domain in DOMAINS if domain.js[0]])
    layout = rng.choice(("cjs", "esm"))
    module, function = rng.choice(domain.modules), rng.choice(domain.functions)
    folder = rng.choice(("", "lib/"))
    path = f"{folder}{module}.js"
    test = rng.choice((f"test/{module}.test.js", f"{module}.test.js"))
    up = "../" if test.startswith("test/") else "./"
    cases = cases_of(domain, rng, rng.randint(1, 3))
    form = rng.choice(("strict", "deep", "equal", "ok"))
    made = Project("js", "node", layout, form, domain, function, path, f"{up}{path}", test, "node --test", cases)
    simple = not isinstance(cases[0].expected, list)
    lines = {
        "strict": "assert.strictEqual({f}({a}), {e})" if simple else "assert.deepStrictEqual({f}({a}), {e})",
        "deep": "assert.deepStrictEqual({f}({a}), {e})",
        "equal": "assert.equal({f}({a}), {e})" if simple else "assert.deepEqual({f}({a}), {e})",
        "ok": "assert.ok(JSON.stringify({f}({a})) === JSON.stringify({e}))",
    }
    body = "".join(
        f"\ntest('{function} {number}', () => {{\n  "
        + lines[form].format(f=function, a=case.json_call, e=json.dumps(case.expected))
        + ";\n});\n"
        for number, case in enumerate(cases)
    )
    if layout == "esm":
        head = f"import test from 'node:test';\nimport assert from 'node:assert';\nimport {{ {function} }} from '{up}{path}';\n"
    else:
        head = f"const test = require('node:test');\nconst assert = require('node:assert');\nconst {{ {function} }} = require('{up}{path}');\n"
    kind = ', "type": "module"' if layout == "esm" else ""
    made.files = {
        test: head + body,
        path: made.text(),
        "package.json": f'{{"name": "{module}"{kind}, "scripts": {{"test": "node --test"}}}}\n',
        ".gitignore": "node_modules/\nbuild/\n",
    }
    if rng.random() < 0.25:
        made.check, made.front = "npm test --silent", "npm"
    return made


def _go(rng: Random) -> Project:
    domain = rng.choice([domain for domain in DOMAINS if domain.go[0]])
    module, function = rng.choice(domain.modules), rng.choice(domain.functions).title().replace("_", "")
    cases = cases_of(domain, rng, rng.randint(1, 2))
    made = Project(
        "go", "go", module, "if", domain, function, f"{module}.go", module, f"{module}_test.go", "go test ./...", cases
    )
    body = "".join(
        f"\nfunc Test{function}{number}(t *testing.T) {{\n\tif got := {function}({case.json_call}); got != {case.expected} {{\n"
        f'\t\tt.Errorf("got %v", got)\n\t}}\n}}\n'
        for number, case in enumerate(cases)
    )
    made.files = {
        "go.mod": f"module example.org/{module}\n\ngo 1.21\n",
        made.product: made.text(),
        made.test: f'package {module}\n\nimport "testing"\n{body}',
        ".gitignore": "build/\n",
    }
    return made


def _finish(rng: Random, made: Project) -> None:
    """What most projects of Python have, and a Makefile for some."""
    made.files[".gitignore"] = IGNORED
    if rng.random() < 0.3:
        made.files["notes.md"] = "# Notes\n"
    if rng.random() < 0.12 and made.runner in {"pytest", "unittest"}:
        made.files["Makefile"] = f".PHONY: test\ntest:\n\t{made.check}\n"
        made.check, made.front = "make test", "make"
