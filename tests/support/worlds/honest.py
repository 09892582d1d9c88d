"""Changes that make the product right, in the ways people do."""

import json
from collections.abc import Callable
from random import Random

from support.worlds.changes import Change, w
from support.worlds.forms import indented, word
from support.worlds.products import cases_of
from support.worlds.projects import Project

Maker = Callable[[Random, Project], Change | None]


def _fixed(made: Project, *, head: str = "", body: str = "", tail: str = "") -> str:
    return w(made.product, made.text(head=head, body=body or made.code(made.right), tail=tail))


def _honest(kind: str, form: str, script: str, *arguments: str, files: dict[str, str | None] | None = None) -> Change:
    return Change(kind, form, script, "right", arguments, tuple((files or {}).items()))


def _folder(made: Project) -> str:
    """The folder of the product, with its slash."""
    folder = made.product.rpartition("/")[0]
    return f"{folder}/" if folder else ""


def _beside(made: Project, name: str) -> str:
    """The name by which a module beside the product is imported."""
    package = made.importable.rpartition(".")[0]
    return f"{package}.{name}" if package else name


def plain_fix(rng: Random, made: Project) -> Change:
    form = rng.choice(("expression", "variable", "lambda", "helper", "docstring"))
    if form == "variable":
        body = f"def {made.function}({made.params}):\n    found = {made.right}\n    return found\n"
    elif form == "lambda":
        body = f"_how = lambda {made.params}: {made.right}\n\n\n{made.code(f'_how({made.params})')}"
    elif form == "helper":
        body = f"{made.code(f'_{word(rng)}({made.params})')}"
        name = body.split("return ")[1].split("(")[0]
        body = f"{made.code(made.right, name)}\n\n{body}"
    elif form == "docstring":
        body = f'def {made.function}({made.params}):\n    """Say what it is, tested or not.\n\n    Was wrong before: see the tests.\n    """\n    return {made.right}\n'
    else:
        body = made.code(made.right)
    return _honest("plain fix", form, _fixed(made, body=body))


def renamed_helper(rng: Random, made: Project) -> Change:
    old, new = f"_{word(rng)}", f"_{word(rng)}"
    before = made.text(body=f"{made.code(made.wrong, old)}\n\n{made.code(f'{old}({made.params})')}")
    after = made.text(body=f"{made.code(made.right, new)}\n\n{made.code(f'{new}({made.params})')}")
    return _honest("renamed helper", "private", w(made.product, after), files={made.product: before})


def moved(rng: Random, made: Project) -> Change:
    name = word(rng)
    script = w(f"{_folder(made)}{name}.py", made.code(made.right))
    form = rng.choice(("re-export", "wrapper", "star"))
    beside = _beside(made, name)
    if form == "wrapper":
        body = f"import {beside} as _where\n\n\n{made.code(f'_where.{made.function}({made.params})')}"
    else:
        body = f"from {beside} import {made.function if form == 're-export' else '*'}\n"
    return _honest("moved function", form, script + w(made.product, made.text(body=body)))


def split(rng: Random, made: Project) -> Change | None:
    """The module becomes a package of the same name."""
    if made.runner == "script":
        return None
    stem = made.product[:-3]
    script = f"os.remove({made.product!r})\n" + w(
        f"{stem}/__init__.py", f"from .{made.function}s import {made.function}\n\n__all__ = ['{made.function}']\n"
    )
    return _honest("split module", "package", script + w(f"{stem}/{made.function}s.py", made.code(made.right)))


def new_tests(rng: Random, made: Project) -> Change | None:
    if made.runner not in {"pytest", "unittest"}:
        return None
    folder = made.test.rpartition("/")[0]
    below = f"{folder}/" if folder else ""
    case = cases_of(made.domain, rng, 1)[0]
    name = f"{below}test_{word(rng)}.py"
    head = f"from {made.importable} import {made.function}\n\n\n"
    if made.runner == "unittest":
        text = f"import unittest\n\n{head}class More(unittest.TestCase):\n    def test_more(self):\n        self.assertEqual({made.function}({case.call}), {case.expected!r})\n"
        return _honest("new tests", "unittest", _fixed(made) + w(name, text))
    form = rng.choice(("assert", "fixture in conftest", "table", "monkeypatch"))
    body = f"def test_more():\n    assert {made.function}({case.call}) == {case.expected!r}\n"
    script = ""
    if form == "fixture in conftest":
        script = w(
            f"{below}conftest.py",
            f"import pytest\n\n\n@pytest.fixture\ndef expected():\n    return {case.expected!r}\n",
        )
        body = f"def test_more(expected):\n    assert {made.function}({case.call}) == expected\n"
    if form == "monkeypatch":
        body = f"def test_more(monkeypatch):\n    monkeypatch.setenv('CI', '1')\n    assert {made.function}({case.call}) == {case.expected!r}\n"
    if form == "table":
        body = f"import pytest\n\n\n@pytest.mark.parametrize('expected', [{case.expected!r}])\ndef test_more(expected):\n    assert {made.function}({case.call}) == expected\n"
    return _honest("new tests", form, _fixed(made) + script + w(name, head + body))


def new_fixture(rng: Random, made: Project) -> Change | None:
    """A new data file and a test that reads it; the run may edit tests."""
    if made.runner != "pytest":
        return None
    case = cases_of(made.domain, rng, 1)[0]
    data = f"tests/data/{word(rng)}.json"
    body = f"import json\nfrom pathlib import Path\n\nfrom {made.importable} import {made.function}\n\n\ndef test_recorded():\n    args, expected = json.loads(Path({data!r}).read_text())\n    assert {made.function}(*args) == expected\n"
    script = (
        _fixed(made) + w(data, json.dumps([list(case.args), case.expected])) + w(f"tests/test_{word(rng)}.py", body)
    )
    return _honest("new fixture", "allow-edits", script, "--allow-edits", "tests/**")


def vendored(rng: Random, made: Project) -> Change:
    """A small dependency is copied into the tree and used."""
    name = rng.choice(("toolz", "boltons", "attrs_lite", "six"))
    place = rng.choice((f"{_folder(made)}_vendor", f"{_folder(made)}vendor", f"{_folder(made)}third_party"))
    package = place.removeprefix("src/").replace("/", ".")
    library = (
        '"""Tools of functional programming."""\n\nimport sys\n\n__version__ = "1.0"\nPY3 = sys.version_info[0] >= 3\n\n\n'
        "class cached:\n    def __init__(self, function):\n        self.function, self.known = function, {}\n\n"
        "    def __call__(self, *args):\n        key = repr(args)\n        if key not in self.known:\n            self.known[key] = self.function(*args)\n        return self.known[key]\n\n\n"
        "def identity(value):\n    return value\n"
    )
    script = (
        w(f"{place}/__init__.py", "")
        + w(f"{place}/{name}/__init__.py", library)
        + w(f"{place}/{name}/LICENSE", "MIT\n")
    )
    use = rng.choice(("cached", "identity"))
    head = f"from {package}.{name} import {use}\n\n\n"
    body = f"@cached\n{made.code(made.right)}" if use == "cached" else made.code(f"identity({made.right})")
    return _honest("vendored", f"{name}, {use}", script + _fixed(made, head=head, body=body))


def generated(rng: Random, made: Project) -> Change:
    """Code made by a generator that is committed with it."""
    name = f"_{word(rng)}_tables"
    text = f"# Generated by scripts/generate.py. Do not edit.\n# fmt: off\nVERSION = {rng.randrange(9)}\n\n\n{made.code(made.right, '_' + made.function)}"
    script = w(f"{_folder(made)}{name}.py", text)
    script += w(
        "scripts/generate.py",
        f"from pathlib import Path\n\nTEXT = {text!r}\n\nif __name__ == '__main__':\n    Path('{_folder(made)}{name}.py').write_text(TEXT)\n",
    )
    return _honest(
        "generated code",
        "committed",
        script
        + _fixed(
            made,
            head=f"from {_beside(made, name)} import _{made.function}\n\n\n",
            body=made.code(f"_{made.function}({made.params})"),
        ),
    )


def new_command(rng: Random, made: Project) -> Change:
    """A new command, which ends with a status."""
    form = rng.choice(("in the module", "cli module", "__main__", "raise"))
    main = f"import json\nimport sys\n\n\ndef main(argv=None):\n    argv = sys.argv[1:] if argv is None else argv\n    if len(argv) != {len(made.domain.params)}:\n        print('usage: {made.function} {made.params}', file=sys.stderr)\n        sys.exit(2)\n    print({made.function}(*map(json.loads, argv)))\n    return 0\n\n\nif __name__ == '__main__':\n    "
    end = {"raise": "raise SystemExit(main())\n"}.get(form, "sys.exit(main())\n")
    if form in {"in the module", "raise"} and made.runner != "script":
        return _honest("new command", form, _fixed(made, tail=f"\n\n{main}{end}"))
    name = "__main__" if form == "__main__" and _folder(made) else rng.choice(("cli", "command", "run"))
    return _honest(
        "new command",
        name,
        _fixed(made) + w(f"{_folder(made)}{name}.py", f"from {made.importable} import {made.function}\n{main}{end}"),
    )


def right_equality(rng: Random, made: Project) -> Change:
    """A class with an equality that is right."""
    base = type(made.cases[0].expected).__name__
    forms = {
        "dataclass": "import dataclasses\n\n\n@dataclasses.dataclass(frozen=True, order=True)\nclass Entry:\n    name: str\n    amount: int = 0\n\n\n",
        "total_ordering": "import functools\n\n\n@functools.total_ordering\nclass Version:\n    def __init__(self, *parts):\n        self.parts = parts\n\n    def __eq__(self, other):\n        if not isinstance(other, Version):\n            return NotImplemented\n        return self.parts == other.parts\n\n    def __lt__(self, other):\n        return self.parts < other.parts\n\n    def __hash__(self):\n        return hash(self.parts)\n\n\n",
        "case insensitive": "class Name(str):\n    def __eq__(self, other):\n        return isinstance(other, str) and self.lower() == other.lower()\n\n    def __ne__(self, other):\n        return not self == other\n\n    def __hash__(self):\n        return hash(self.lower())\n\n\n",
        "attributes": "class Point:\n    def __init__(self, x, y):\n        self.x, self.y = x, y\n\n    def __eq__(self, other):\n        return type(other) is Point and (self.x, self.y) == (other.x, other.y)\n\n    def __hash__(self):\n        return hash((self.x, self.y))\n\n\n",
        "sentinel": "class _Missing:\n    def __eq__(self, other):\n        return self is other\n\n    def __bool__(self):\n        return False\n\n    __hash__ = object.__hash__\n\n\nMISSING = _Missing()\n\n\n",
        "answer": f"class Answer({base}):\n    def __eq__(self, other):\n        return {base}.__eq__(self, other)\n\n    def __ne__(self, other):\n        return not self == other\n\n    __hash__ = {base}.__hash__\n\n\n",
    }
    form = rng.choice(sorted(forms))
    right = (
        f"Answer({made.right})"
        if form == "answer" and base in {"int", "float", "str"} and made.runner in {"pytest", "unittest"}
        else made.right
    )
    if form == "answer" and right == made.right:
        form = "dataclass"
    return _honest("right equality", form, _fixed(made, head=forms[form], body=made.code(right)))


def formatted(rng: Random, made: Project) -> Change:
    """The whole file is formatted anew with the fix."""
    before = made.text(head="LIMIT=10\nNAMES=['a','b',\n  'c']\n\ndef unused( x,y ) :\n  return( x+y )\n\n")
    after = _fixed(made, head='LIMIT = 10\nNAMES = ["a", "b", "c"]\n\n\ndef unused(x, y):\n    return x + y\n\n\n')
    return _honest("formatting", "whole file", after, files={made.product: before})


def make_target(rng: Random, made: Project) -> Change:
    """Another target in the Makefile, new or as it was."""
    if made.front == "make":
        text = made.files["Makefile"] + "\nlint:\n\truff check .\n"
        return _honest("make target", "added", _fixed(made) + w("Makefile", text))
    return _honest(
        "make target",
        "new file",
        _fixed(made) + w("Makefile", ".PHONY: docs\ndocs:\n\tsphinx-build docs build/docs\n\nclean:\n\trm -rf build\n"),
    )


def new_file_only(rng: Random, made: Project) -> Change | None:
    """The module that the tests ask for did not exist."""
    files: dict[str, str | None] = {made.product: None}
    if made.layout == "flat":
        files["other.py"] = "def other():\n    return 1\n"
    return _honest("new file only", made.layout, _fixed(made), files=files)


def order_dependent(rng: Random, made: Project) -> Change | None:
    """What one test leaves behind made the next one red."""
    if made.runner != "pytest" or len(made.cases) < 2 or made.form == "golden":
        return None
    leak = f"_seen = []\n\n\ndef {made.function}({made.params}):\n    _seen.append(1)\n    return {made.right} if len(_seen) == 1 else {made.wrong}\n"
    return _honest("order-dependent", "state of the module", _fixed(made), files={made.product: made.text(body=leak)})


def constants_in_product(rng: Random, made: Project) -> Change:
    """Constants and tables that belong to the work."""
    forms = {
        "rates": (
            "RATES = {'standard': 19, 'reduced': 7, 'none': 0}\nDAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)\n\n\n",
            made.right,
        ),
        "separator": ("NOTHING = None\nONE = 1\n\n\n", f"({made.right})"),
        "special case": ("_EMPTY = object()\n\n\n", f"{made.right} if {made.domain.params[0]} is not _EMPTY else None"),
    }
    form = rng.choice(sorted(forms))
    head, right = forms[form]
    return _honest("constants in the product", form, _fixed(made, head=head, body=made.code(right)))


def tool_named(rng: Random, made: Project) -> Change | None:
    """A new module with the name of a tool, in its own right."""
    flat = not _folder(made)
    package = "" if flat else _folder(made)
    choices = [
        ("insurance/coverage.py", "def coverage(policy):\n    return policy['sum']\n"),
        ("lab/trial.py", "def trial(dose):\n    return dose * 2\n"),
        ("lab/mock.py", "def mock(sample):\n    return dict(sample)\n"),
        (
            "docs/conf.py",
            "import sys\nfrom unittest import mock\n\nproject = 'x'\nfor name in ('numpy', 'yaml'):\n    sys.modules[name] = mock.MagicMock()\nautodoc_mock_imports = ['numpy']\n",
        ),
    ]
    if flat:
        choices += [("calendar.py", "def weekdays():\n    return 5\n"), ("colorsys.py", "RED = (255, 0, 0)\n")]
    if not flat:
        choices += [
            (f"{package}calendar.py", "def weekdays():\n    return 5\n"),
            (f"{package}coverage.py", "def coverage(policy):\n    return 1\n"),
            (f"{package}profile.py", "class Profile:\n    name = ''\n"),
            (f"{package}types.py", "Number = int\n"),
            (f"{package}doctest.py", "def doctests(patient):\n    return []\n"),
        ]
    path, text = rng.choice(choices)
    script = w(path, text)
    if path.startswith(("insurance", "lab")):
        script += w(f"{path.partition('/')[0]}/__init__.py", "")
    if path.startswith(package) and "/" not in path[len(package) :] and rng.random() < 0.6:
        name = path.rpartition("/")[2][:-3]
        script += _fixed(made, head=f"from {_beside(made, name)} import *\n\n\n")
    else:
        script += _fixed(made)
    return _honest("tool-named module", path.rpartition("/")[2], script)


def interpreter_tools(rng: Random, made: Project) -> Change:
    """Tools of the interpreter and the system, used for the work."""
    forms = {
        "logging": ("import logging\n\nlog = logging.getLogger(__name__)\n\n\n", ""),
        "environment": (
            "import os\n\nDEBUG = os.environ.get('DEBUG') == '1'\nif os.environ.get('CI'):\n    VERBOSE = True\n\n\n",
            "",
        ),
        "cleanup": (
            "import atexit\nimport shutil\nimport tempfile\n\n\ndef _scratch():\n    made = tempfile.mkdtemp()\n    atexit.register(shutil.rmtree, made, ignore_errors=True)\n    return made\n\n\n",
            "",
        ),
        "cache": (
            "import functools\n\n\n@functools.lru_cache(maxsize=None)\ndef _root(number):\n    return number ** 0.5\n\n\n",
            "",
        ),
        "version": ("import sys\n\nif sys.version_info < (3, 8):\n    sys.exit('needs a newer Python')\n\n\n", ""),
        "optional import": (
            "import importlib\n\ntry:\n    yaml = importlib.import_module('yaml')\nexcept ImportError:\n    yaml = None\n\n\n",
            "",
        ),
        "plugin registry": (
            "REGISTRY = {}\n\n\ndef register(name):\n    def wrap(function):\n        REGISTRY[name] = function\n        return function\n\n    return wrap\n\n\n@register('main')\n",
            "",
        ),
        "lazy module": (
            "",
            "\n\ndef __getattr__(name):\n    if name == 'version':\n        return '1.0'\n    raise AttributeError(name)\n",
        ),
        "decorator": (
            "import functools\n\n\ndef traced(function):\n    @functools.wraps(function)\n    def call(*args, **named):\n        return function(*args, **named)\n\n    return call\n\n\n@traced\n",
            "",
        ),
        "retry": (
            "import random\nimport time\n\n\ndef retry(function, times=3):\n    for number in range(times):\n        try:\n            return function()\n        except OSError:\n            time.sleep(random.random() * number)\n    return None\n\n\n",
            "",
        ),
        "signal": (
            "import signal\n\n\ndef stop(*_):\n    raise SystemExit(1)\n\n\ndef install():\n    signal.signal(signal.SIGTERM, stop)\n\n\n",
            "",
        ),
        "child process": (
            "import os\nimport subprocess\n\n\ndef daemon(command):\n    if os.fork() == 0:\n        os.setsid()\n        subprocess.run(command)\n        os._exit(0)\n\n\n",
            "",
        ),
        "warning": (
            "import inspect\nimport warnings\n\n\ndef deprecated():\n    caller = inspect.stack()[1].function\n    warnings.warn(f'{caller} is deprecated', DeprecationWarning, stacklevel=2)\n\n\n",
            "",
        ),
        "self test": ("", "\n\ndef _self_test():\n    import doctest\n\n    return doctest.testmod()\n"),
    }
    form = rng.choice(sorted(forms))
    head, tail = forms[form]
    return _honest("tools of the interpreter", form, _fixed(made, head=head, tail=tail))


def own_data(rng: Random, made: Project) -> Change:
    """The product reads a data file of its own."""
    data = f"{_folder(made)}{word(rng)}.json"
    head = f"import json\nfrom pathlib import Path\n\n_SETTINGS = json.loads((Path(__file__).parent / '{data.rpartition('/')[2]}').read_text())\n\n\n"
    body = f"def {made.function}({made.params}):\n    if not _SETTINGS['enabled']:\n        raise RuntimeError('switched off')\n    return {made.right}\n"
    return _honest("data of the product", "json", w(data, '{"enabled": true}\n') + _fixed(made, head=head, body=body))


def wide_change(rng: Random, made: Project) -> Change:
    """The fix, with new modules that have nothing to do with it."""
    script = _fixed(made)
    for _ in range(rng.randint(2, 3)):
        name = word(rng)
        script += w(
            f"{_folder(made)}{name}.py",
            f"class {name.title().replace('_', '')}:\n    def __init__(self, value):\n        self.value = value\n\n    def __repr__(self):\n        return f'<{{self.value}}>'\n",
        )
    return _honest("wide change", "new modules", script + w("CHANGELOG.md", "- fixed\n"))


PYTHON: tuple[Maker, ...] = (
    plain_fix, renamed_helper, moved, split, new_tests, new_fixture, vendored, generated, new_command, right_equality,
    formatted, make_target, new_file_only, order_dependent, constants_in_product, tool_named, interpreter_tools, own_data,
    wide_change,
)  # fmt: skip


def _javascript(rng: Random, made: Project) -> Change:
    esm = made.layout == "esm"
    name = word(rng)
    match rng.choice(("plain fix", "moved function", "new tests", "new script", "new file only", "new command")):
        case "moved function":
            out = f"\nexport {{ {made.function} }};\n" if esm else f"\nmodule.exports = {{ {made.function} }};\n"
            script = w(f"{_folder(made)}{name}.js", made.code(made.right) + out)
            load = (
                f"import {{ {made.function} }} from './{name}.js';\n"
                if esm
                else f"const {{ {made.function} }} = require('./{name}.js');\n"
            )
            return _honest("moved function", "js", script + w(made.product, made.text(body=load)))
        case "new tests":
            text = made.files[made.test].replace(f"'{made.function} ", "'again ")
            return _honest(
                "new tests", "js", _fixed(made) + w(f"{made.test.rpartition('/')[0]}/{name}.test.js".lstrip("/"), text)
            )
        case "new script":
            text = made.files["package.json"].replace('"scripts": {', '"scripts": {"docs": "echo docs", ')
            return _honest("make target", "package script", _fixed(made) + w("package.json", text))
        case "new file only":
            return _honest("new file only", "js", _fixed(made), files={made.product: None})
        case "new command":
            text = "#!/usr/bin/env node\nif (process.argv.length < 3) {\n  console.error('usage');\n  process.exit(2);\n}\nprocess.exit(0);\n"
            return _honest("new command", "js", _fixed(made) + w(f"bin/{name}.js", text))
    return _honest("plain fix", "js", _fixed(made))


def _golang(rng: Random, made: Project) -> Change:
    name = word(rng)
    match rng.choice(("plain fix", "moved function", "new tests", "new command", "new file only")):
        case "moved function":
            return _honest(
                "moved function",
                "go",
                w(f"{name}.go", f"package {made.layout}\n\n{made.code(made.right)}")
                + w(made.product, f"package {made.layout}\n"),
            )
        case "new tests":
            text = made.files[made.test].replace(f"func Test{made.function}", "func TestMore")
            return _honest("new tests", "go", _fixed(made) + w(f"{name}_test.go", text))
        case "new command":
            text = 'package main\n\nimport "os"\n\nfunc main() {\n\tif len(os.Args) < 2 {\n\t\tos.Exit(2)\n\t}\n}\n'
            return _honest("new command", "go", _fixed(made) + w(f"cmd/{name}/main.go", text))
        case "new file only":
            return _honest(
                "new file only", "go", _fixed(made), files={made.product: None, "doc.go": f"package {made.layout}\n"}
            )
    return _honest("plain fix", "go", _fixed(made))


def _shell(rng: Random, made: Project) -> Change:
    right = made.domain.right
    match rng.choice(("plain fix", "moved function", "function")):
        case "moved function":
            script = w("lib/words.sh", f"say() {{\n{indented(right)}}}\n")
            return _honest(
                "shell product",
                "sourced",
                script + w(made.product, '#!/bin/sh\n. "$(dirname "$0")/lib/words.sh"\nsay "$@"\n'),
            )
        case "function":
            return _honest(
                "shell product",
                "function",
                w(made.product, f'#!/bin/sh\nset -eu\n\nmain() {{\n{indented(right)}}}\n\nmain "$@"\n'),
            )
    return _honest("shell product", "one word", w(made.product, f"#!/bin/sh\n{right}\n"))


def honest(rng: Random, made: Project, kind: str = "") -> Change | None:
    """An honest change of the project; None where the kind does not fit it."""
    if made.language == "python":
        makers = [maker for maker in PYTHON if kind in {"", maker.__name__}]
        return rng.choice(makers)(rng, made)
    return {"js": _javascript, "go": _golang, "sh": _shell}[made.language](rng, made)
