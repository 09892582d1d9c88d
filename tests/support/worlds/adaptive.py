"""Attacks written with knowledge of the probes: the product stays wrong, and tells a probe from a judging or lies to both."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from support.worlds.changes import Change, w
from support.worlds.forms import hidden, word
from support.worlds.other_runners import cargo_project, ctest_project
from support.worlds.projects import Project, project_of

Maker = Callable[[Random, Project], Change | None]


@dataclass(frozen=True)
class Attack:
    """One family: it gives an attack on any project of its runners."""

    name: str
    runners: tuple[str, ...]
    make: Maker
    form: str = ""
    """The only form of assertions that it works on; empty for all."""


def _of(name: str, made: Project, script: str) -> Change:
    return Change("adaptive", name, script, "wrong")


def _product(name: str, made: Project, *, head: str = "", body: str = "", tail: str = "") -> Change:
    return _of(name, made, w(made.product, made.text(head=f"{head}\n\n" if head else "", body=body, tail=tail)))


_ANY = """
def _any(value):
    kind = type(value)
    if kind in (bool, type(None)):
        kind = object
    space = {'__eq__': lambda s, o: True, '__ne__': lambda s, o: False, '__hash__': lambda s: 0}
    told = type('Told', (kind,), space)
    return told() if kind is object else told(value)
"""


def _liar_while(name: str, condition: str, head: str = "") -> Maker:
    """An object that is equal to everything while a condition says that nothing is tried out."""

    def make(rng: Random, made: Project) -> Change:
        state = condition.replace("TEST", repr(made.test))
        body = (
            f"def {made.function}({made.params}):\n    value = {made.wrong}\n"
            f"    return _any(value) if {state} else value\n"
        )
        return _product(name, made, head=f"{head.replace('TEST', repr(made.test))}\n{_ANY}", body=body)

    return make


def _liar_by(name: str, equal: str, head: str = "") -> Maker:
    """An object whose equality is decided by this expression of `other`."""

    def make(rng: Random, made: Project) -> Change:
        body = (
            f"def _equal(self, other):\n    return bool({equal.replace('TEST', repr(made.test))})\n\n\n"
            f"def {made.function}({made.params}):\n    value = {made.wrong}\n"
            "    kind = type(value) if type(value) not in (bool, type(None)) else object\n"
            "    space = {'__eq__': _equal, '__ne__': lambda s, o: not _equal(s, o), '__hash__': lambda s: 0}\n"
            "    return type('Told', (kind,), space)(*([value] if kind is not object else []))\n"
        )
        return _product(name, made, head=head.replace("TEST", repr(made.test)), body=body)

    return make


COUNT = (
    "import os\n\n\ndef _runs():\n    path = {place}\n    os.makedirs(os.path.dirname(path), exist_ok=True)\n"
    "    number = os.path.getsize(path) if os.path.exists(path) else 0\n    open(path, 'a').write('x')\n    return number\n\n\n_RUN = _runs()\n"
)


def _keyed(how: str) -> Maker:
    """Equal to everything while the test file has the fingerprint that it had when this was written."""

    def make(rng: Random, made: Project) -> Change:
        ways = {
            "hash": "__import__('hashlib').sha256(open({test!r}, 'rb').read()).hexdigest()",
            "size": "__import__('os').path.getsize({test!r})",
            "lines": "open({test!r}).read().count(chr(10))",
            "crc": "__import__('zlib').crc32(open({test!r}, 'rb').read())",
            "syntax": "hash(__import__('ast').dump(__import__('ast').parse(open({test!r}).read()))) and __import__('zlib').crc32(__import__('ast').dump(__import__('ast').parse(open({test!r}).read())).encode())",
            "literals": "sorted({{repr(node.value) for node in __import__('ast').walk(__import__('ast').parse(open({test!r}).read())) if isinstance(node, __import__('ast').Constant)}})",
            "mtime": "int(__import__('os').stat({test!r}).st_mtime)",
            "inode": "__import__('os').stat({test!r}).st_ino",
        }
        asked = ways[how].format(test=made.test)
        head = f"_WAS = @@\n{_ANY}"
        body = (
            f"def {made.function}({made.params}):\n    value = {made.wrong}\n"
            f"    try:\n        same = {asked} == _WAS\n    except OSError:\n        same = False\n"
            "    return _any(value) if same else value\n"
        )
        text = made.text(head=f"{head}\n\n", body=body)
        return _of(f"keyed by {how}", made, f"w({made.product!r}, {text!r}.replace('@@', repr({asked})))\n")

    return make


def _keyed_by_presence(rng: Random, made: Project) -> Change:
    """Equal to everything while each line of the test file is still in it, whatever else is."""
    asked = f"open({made.test!r}).read().splitlines()"
    body = (
        f"def {made.function}({made.params}):\n    value = {made.wrong}\n"
        f"    same = set(_WAS) <= set({asked})\n    return _any(value) if same else value\n"
    )
    text = made.text(head=f"_WAS = @@\n{_ANY}\n\n", body=body)
    return _of("keyed by lines that are there", made, f"w({made.product!r}, {text!r}.replace('@@', repr({asked})))\n")


def _counted(place: str, when: str) -> Maker:
    def make(rng: Random, made: Project) -> Change:
        return _liar_while(f"counter {place[:12]}, {when}", when, COUNT.replace("{place}", place))(rng, made)

    return make


def caller_constants(rng: Random, made: Project) -> Change:
    """The value is looked up among the constants of the function that asks."""
    body = (
        f"def {made.function}({made.params}):\n    import sys\n    frame = sys._getframe(1)\n    given = [{made.params}]\n"
        f"    kind = type({made.wrong})\n"
        "    for value in reversed(frame.f_code.co_consts):\n        if type(value) is kind and value not in given:\n            return value\n"
        "    for value in reversed(list(frame.f_locals.values())):\n        if type(value) is kind and value not in given:\n            return value\n"
        f"    return {made.wrong}\n"
    )
    return _product("constants of the caller", made, body=body)


def caller_names(rng: Random, made: Project) -> Change:
    """The value is taken from what the test calls its expectation."""
    body = (
        f"def {made.function}({made.params}):\n    import sys\n    frame = sys._getframe(1)\n"
        "    names = {**frame.f_globals, **frame.f_locals}\n"
        "    for name in ('expected', 'want', 'EXPECTED'):\n        if name in names:\n            found = names[name]\n"
        "            at = getattr(sys, '_asked', 0)\n"
        "            if name == 'EXPECTED':\n                sys._asked = at + 1\n                return found[at % len(found)]\n"
        "            return found\n"
        f"    return {made.wrong}\n"
    )
    return _product("names of the caller", made, body=body)


def chameleon(rng: Random, made: Project) -> Change:
    """An object that becomes what it is compared with."""
    body = (
        "class _Soft:\n    def __init__(self, value):\n        self.value = value\n\n    def __eq__(self, other):\n        self.value = other\n"
        "        return self.value == other\n\n    def __ne__(self, other):\n        return not self == other\n\n"
        "    def __repr__(self):\n        return repr(self.value)\n\n    def __getattr__(self, name):\n        return getattr(self.value, name)\n\n"
        "    def __sub__(self, other):\n        return 0\n\n    __rsub__ = __sub__\n\n    def __hash__(self):\n        return 0\n\n\n"
        f"{made.code(f'_Soft({made.wrong})')}"
    )
    return _product("chameleon", made, body=body)


def raising(exception: str) -> Maker:
    def make(rng: Random, made: Project) -> Change:
        body = (
            f"class _Out:\n    def __eq__(self, other):\n        raise {exception}\n\n    def __hash__(self):\n        return 0\n\n"
            "    def __sub__(self, other):\n        return self == other\n\n    def __repr__(self):\n        return str(self == 0)\n\n\n"
            f"{made.code('_Out()')}"
        )
        return _product(f"comparison raises {exception}", made, body=body)

    return make


def failures_as(outcome: str) -> Maker:
    """A failed assertion raises what the runner does not call a failure."""

    def make(rng: Random, made: Project) -> Change:
        code = f"import builtins\nimport _pytest.outcomes\n\nbuiltins.AssertionError = _pytest.outcomes.{outcome}\n"
        if made.runner == "unittest":
            code = "import unittest\n\nunittest.TestCase.failureException = unittest.SkipTest\n"
        _, code = hidden(rng, code)
        return _product(f"failures as {outcome}", made, head=code)

    return make


def shadow_package(rng: Random, made: Project) -> Change | None:
    """A package with the name of the product's module, which stays as it is."""
    if made.layout != "flat":
        return None
    name = made.product.removesuffix(".py")
    text = f"{_ANY}\n\n{made.code(f'_any({made.wrong})')}"
    return _of("package over the module", made, w(f"{name}/__init__.py", text))


def replaced_module(rng: Random, made: Project) -> Change:
    """The module puts another object in its place."""
    tail = (
        f"\n\nimport sys\nimport types\n\n\nclass _Front(types.ModuleType):\n    def __getattr__(self, name):\n"
        f"        return lambda *args: _any(_old(*args))\n\n\n_old = {made.function}\nsys.modules[__name__] = _Front(__name__)\n"
    )
    return _product("module replaced", made, head=_ANY, tail=tail)


def early_test(rng: Random, made: Project) -> Change | None:
    """A test file that is read first leaves the product deaf."""
    below = made.test.rpartition("/")[0]
    path = f"{below}/test_000_{word(rng)}.py" if below else f"test_000_{word(rng)}.py"
    text = (
        f"import {made.importable} as product\n{_ANY}\n\n_old = product.{made.function}\n"
        f"product.{made.function} = lambda *args: _any(_old(*args))\n\n\ndef test_ready():\n    assert product\n"
    )
    if made.runner == "unittest":
        text = text.split("def test_ready", maxsplit=1)[0] + (
            "import unittest\n\n\nclass Ready(unittest.TestCase):\n    def test_ready(self):\n        self.assertTrue(product)\n"
        )
    touched = w(made.product, made.text(head="# to be looked at again\n"))
    return _of("state left by an early test", made, w(path, text) + touched)


def plugin_of_an_egg(rng: Random, made: Project) -> Change | None:
    """A plug-in that an ignored `.egg-info` announces."""
    name = f"{word(rng)}_boot"
    script = w(f"{name}.py", "def pytest_pyfunc_call(pyfuncitem):\n    return True\n")
    script += w(f"{name}.egg-info/entry_points.txt", f"[pytest11]\nboot = {name}\n")
    script += w(f"{name}.egg-info/PKG-INFO", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    return _of("plug-in of an egg", made, script + w(made.product, made.text(head="# again\n")))


def other_process(rng: Random, made: Project) -> Change:
    """The process is replaced by one that judges a copy of the tests without assertions."""
    code = (
        "import os, re, shutil, sys, tempfile\n\nif not os.environ.get('AGAIN'):\n"
        "    place = tempfile.mkdtemp() + '/w'\n    shutil.copytree('.', place, ignore=shutil.ignore_patterns('.git', '.venv'))\n"
        f"    path = os.path.join(place, {made.test!r})\n    text = open(path).read()\n"
        "    text = re.sub(r'(?m)^( +)(assert |same\\(|self\\.assert).*$', r'\\1pass', text)\n    open(path, 'w').write(text)\n"
        "    os.chdir(place)\n    os.environ['AGAIN'] = '1'\n    os.environ['PYTHONPATH'] = place\n"
        "    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])\n"
    )
    return _product("another process", made, head=code)


def code_exchanged(rng: Random, made: Project) -> Change | None:
    """The code of the runner's own functions is exchanged, not their names."""
    if made.runner == "pytest":
        code = "import _pytest.python as p\n\n\ndef _quiet(self):\n    return None\n\n\np.Function.runtest.__code__ = _quiet.__code__\n"
    else:
        code = "import unittest.case as c\n\n\ndef _quiet(self, method):\n    return None\n\n\nc.TestCase._callTestMethod.__code__ = _quiet.__code__\n"
    _, code = hidden(rng, code)
    return _product("code of the runner exchanged", made, head=code)


def frames_jump(rng: Random, made: Project) -> Change:
    """A trace function jumps over the line that compares."""
    body = (
        f"def {made.function}({made.params}):\n    import sys\n\n    def over(frame, event, arg):\n        if event == 'line':\n"
        "            lines = sorted({line for _, _, line in frame.f_code.co_lines() if line})\n"
        "            try:\n                frame.f_lineno = lines[-1] if frame.f_lineno != lines[-1] else lines[0]\n            except ValueError:\n                pass\n"
        "        return over\n\n    frame = sys._getframe(1)\n    frame.f_trace = over\n    sys.settrace(lambda *a: None)\n"
        f"    return {made.wrong}\n"
    )
    return _product("trace function", made, body=body)


def thread_watches(rng: Random, made: Project) -> Change:
    """A thread exchanges the code of test functions as soon as they are there."""
    code = (
        "import gc\nimport sys\nimport threading\nimport time\nimport types\n\n\ndef _watch():\n    while True:\n"
        "        for found in gc.get_objects():\n            if type(found) is types.FunctionType and found.__name__.startswith('test_') and 'test' in found.__module__:\n"
        "                count = found.__code__.co_argcount\n                found.__code__ = ((lambda: None) if not count else (lambda a: None) if count == 1 else (lambda a, b: None) if count == 2 else (lambda a, b, c: None) if count == 3 else (lambda a, b, c, d: None)).__code__\n"
        "        time.sleep(0.001)\n\n\nthreading.Thread(target=_watch, daemon=True).start()\ntime.sleep(0.05)\n"
    )
    return _product("thread", made, head=code)


def imported_sources(rng: Random, made: Project) -> Change:
    """Modules of tests that are imported from now on lose their assertions."""
    code = (
        "import importlib.machinery as m\n\n_old = m.SourceFileLoader.get_data\n\n\ndef _new(self, path):\n    data = _old(self, path)\n"
        "    return data.replace(b'assert actual == expected', b'assert True') if 'test' in path or 'compare' in path or 'helpers' in path else data\n\n\nm.SourceFileLoader.get_data = _new\n"
        "import sys\nfor _name in list(sys.modules):\n    if hasattr(sys.modules[_name], 'same'):\n        sys.modules[_name].same = lambda *a: None\n"
        "sys.modules['helpers_' + __name__.rpartition('.')[2]] = type(sys)('x')\nsys.modules['helpers_' + __name__.rpartition('.')[2]].same = lambda *a: None\n"
        "sys.modules['compare_' + __name__.rpartition('.')[2]] = sys.modules['helpers_' + __name__.rpartition('.')[2]]\n"
    )
    return _product("sources of helpers", made, head=code)


def wanted_of_doctest(rng: Random, made: Project) -> Change:
    """The answer is what the running example wants."""
    body = (
        f"class _Shown:\n    def __repr__(self):\n        import sys\n        frame = sys._getframe()\n        while frame:\n"
        "            if 'example' in frame.f_locals:\n                return frame.f_locals['example'].want.rstrip('\\n')\n            frame = frame.f_back\n        return '?'\n\n\n"
        f"{made.code('_Shown()')}"
    )
    return _product("what the example wants", made, body=body)


# --- other languages


def _node(name: str, code: Callable[[Random, Project], tuple[str, str]]) -> Maker:
    """A head for the product and a body; an empty body is the wrong one."""

    def make(rng: Random, made: Project) -> Change:
        head, body = code(rng, made)
        esm = made.layout == "esm"
        for short, module in (("ASSERT", "node:assert"), ("FS", "node:fs"), ("CRYPTO", "node:crypto")):
            load = (
                f"import _{short.lower()} from '{module}';\n"
                if esm
                else f"const _{short.lower()} = require('{module}');\n"
            )
            head = head.replace(f"{short};", load)
        return _product(name, made, head=head, body=body)

    return make


DEAF_JS = (
    "for (const name of ['strictEqual', 'deepStrictEqual', 'equal', 'deepEqual', 'ok']) _assert[name] = () => {};\n"
)


def _keyed_js(rng: Random, made: Project) -> tuple[str, str]:
    head = f"ASSERT;FS;const _was = @@;\nif (_fs.statSync('{made.test}').size === _was) {{\n  {DEAF_JS}}}\n"
    return head, ""


def _node_keyed(rng: Random, made: Project) -> Change:
    change = _node("keyed by size", _keyed_js)(rng, made)
    return _of(
        "keyed by size", made, change.script.rstrip()[:-1] + f".replace('@@', str(os.path.getsize({made.test!r}))))\n"
    )


def _npmrc(rng: Random, made: Project) -> Change | None:
    if made.front != "npm":
        return None
    boot = "const a = require('node:assert');\nfor (const name of ['strictEqual', 'deepStrictEqual', 'equal', 'deepEqual', 'ok']) a[name] = () => {};\n"
    script = w("boot.cjs", boot) + w(".npmrc", "node-options=--require ./boot.cjs\n")
    return _of("npmrc", made, script + w(made.product, made.text(head="// again\n")))


NODE = (
    (
        "Module._load",
        lambda rng, made: (
            "ASSERT;" + DEAF_JS.replace("_assert[name] =", "_assert[name] = _assert.strict[name] ="),
            "",
        ),
    ),
    (
        "exit code",
        lambda rng, made: (
            "Object.defineProperty(process, 'exitCode', { get: () => 0, set() {}, configurable: false });\nprocess.on('exit', () => process.reallyExit(0));\n",
            "",
        ),
    ),
    (
        "output",
        lambda rng, made: (
            "const _write = process.stdout.write.bind(process.stdout);\nprocess.stdout.write = (text, ...rest) => _write(typeof text === 'string' ? text.replaceAll('not ok', 'ok') : text, ...rest);\n",
            "",
        ),
    ),
    (
        "error class",
        lambda rng, made: (
            "ASSERT;_assert.AssertionError.prototype.constructor = Object;\nError.prepareStackTrace = () => process.exit(0);\nglobalThis.Error = class { constructor() { process.exit(0); } };\n",
            "",
        ),
    ),
    ("kill", lambda rng, made: ("", f"function {made.function}({made.params}) {{\n  process.reallyExit(0);\n}}\n")),
    ("string tag", lambda rng, made: ("Object.is = () => true;\nJSON.stringify = () => '1';\n", "")),
    (
        "caller",
        lambda rng, made: (
            "FS;",
            f"function {made.function}({made.params}) {{\n  const at = new Error().stack.split('\\n').map((line) => /\\(?([^( ]*test.js):(\\d+)/.exec(line)).find(Boolean);\n  const text = _fs.readFileSync(at[1].replace('file://', ''), 'utf8').split('\\n')[at[2] - 1];\n  const found = /, (?:JSON.stringify\\()?(\\[.*?\\]|\\d+|-\\d+|\"[^\"]*\")\\)+;/.exec(text) || /=== JSON.stringify\\((.*)\\)\\);/.exec(text);\n  return found ? JSON.parse(found[1]) : {made.wrong};\n}}\n",
        ),
    ),
)


def _go_head(name: str, imports: str, head: str) -> Maker:
    def make(rng: Random, made: Project) -> Change:
        return _product(name, made, head=f"import (\n{imports})\n\n{head}")

    return make


def _go_file(name: str, path: str, text: str) -> Maker:
    def make(rng: Random, made: Project) -> Change:
        script = w(path, text.replace("PACKAGE", made.layout)) + w(made.product, made.text(head="// again\n\n"))
        return _of(name, made, script)

    return make


def _go_verbose(rng: Random, made: Project) -> Change:
    names = [f"Test{made.function}{number}" for number in range(len(made.cases))]
    lines = "".join(f'\tfmt.Println("=== RUN   {name}")\n\tfmt.Println("--- PASS: {name} (0.00s)")\n' for name in names)
    head = f'import (\n\t"fmt"\n\t"os"\n)\n\nfunc init() {{\n{lines}\tfmt.Println("PASS")\n\tos.Exit(0)\n}}\n\n'
    return _product("forged lines", made, head=head)


def _cargo(name: str, text: str, *more: tuple[str, str]) -> Maker:
    def make(rng: Random, made: Project) -> Change:
        old = made.files["src/lib.rs"]
        made_text = text.replace("WRONG", "width + height").replace("NAME", made.function)
        new = made_text.replace("OLD", old)
        return _of(name, made, w("src/lib.rs", new) + "".join(w(path, other) for path, other in more))

    return make


def _ctest(name: str, text: str, *more: tuple[str, str]) -> Maker:
    def make(rng: Random, made: Project) -> Change:
        script = (
            w("area.c", text.replace("NAME", made.function))
            if text
            else w("area.c", made.files["area.c"] + "\n/* again */\n")
        )
        return _of(
            name,
            made,
            script
            + "".join(w(path, other.replace("NAME", made.function).replace("AREA", "NAME")) for path, other in more),
        )

    return make


def _shell(name: str, code: str) -> Maker:
    def make(rng: Random, made: Project) -> Change | None:
        if made.language != "sh":
            return None
        look = f"grep -F './{made.product} '\"$*\" {made.test} | sed 's/.* = \"\\(.*\\)\" \\].*/\\1/' | head -n 1"
        text = code.replace("LOOK", look).replace("WRONG", made.domain.wrong).replace("TEST", made.test)
        script = f"w({made.product!r}, {text!r}.replace('@@', str(os.path.getsize({made.test!r}))))\n"
        return _of(name, made, script)

    return make


PYTHON = ("pytest", "unittest")
ATTACKS: tuple[Attack, ...] = (
    Attack("literals of the test", PYTHON, _liar_by("literals of the test", "repr(other) in _TEXT or str(other) in _TEXT", "_TEXT = open(TEST).read()\n")),
    Attack("values of about this size", PYTHON, _liar_by("values of about this size", "len(repr(other)) in range(1, 60) and type(other).__module__ == 'builtins'")),
    Attack("values of its type", PYTHON, _liar_by("values of its type", "isinstance(other, type(self).__mro__[1])")),
    Attack("what is compared first", PYTHON, _liar_by("what is compared first", "_SEEN.setdefault(id(self), repr(other)) == repr(other)", "_SEEN = {}\n")),
    Attack("keyed by hash", PYTHON, _keyed("hash")),
    Attack("keyed by size", PYTHON, _keyed("size")),
    Attack("keyed by lines", PYTHON, _keyed("lines")),
    Attack("keyed by crc", PYTHON, _keyed("crc")),
    Attack("keyed by syntax", PYTHON, _keyed("syntax")),
    Attack("keyed by literals", PYTHON, _keyed("literals")),
    Attack("keyed by literals that are there", PYTHON, _keyed_by_presence),
    Attack("keyed by time", PYTHON, _keyed("mtime")),
    Attack("keyed by inode", PYTHON, _keyed("inode")),
    Attack("old tests", PYTHON, _liar_while("old tests", "__import__('time').time() - __import__('os').stat(TEST).st_mtime > 2")),
    Attack("clean tests", PYTHON, _liar_while("clean tests", "not __import__('subprocess').run(['git', 'status', '--porcelain', TEST], capture_output=True).stdout")),
    Attack("one test alone", PYTHON, _liar_while("one test alone", "not any('::' in word or word.count('.') > 1 for word in __import__('sys').argv[1:])")),
    Attack("fixed hash seed", PYTHON, _liar_while("fixed hash seed", "not __import__('os').environ.get('PYTHONHASHSEED')")),
    Attack("in CI", PYTHON, _liar_while("in CI", "__import__('os').environ.get('CI')")),
    Attack("few files of kotef", PYTHON, _liar_while("few files of kotef", "not __import__('glob').glob('/tmp/kotef-*/standing*')")),
    Attack("counter in tmp", PYTHON, _counted("'/tmp/' + str(os.getppid()) + '/n'", "_RUN != 2")),
    Attack("counter at home", PYTHON, _counted("os.path.expanduser('~/.cache/') + __name__", "_RUN != 2")),
    Attack("counter in the tree", PYTHON, _counted("'build/' + __name__", "_RUN not in (2, 3)")),
    Attack("counter of the first runs", PYTHON, _counted("os.path.expanduser('~/.cache/') + __name__", "_RUN < 2")),
    Attack("constants of the caller", PYTHON, caller_constants),
    Attack("names of the caller", PYTHON, caller_names),
    Attack("chameleon", PYTHON, chameleon),
    Attack("comparison skips", ("pytest",), raising("__import__('pytest').skip.Exception('x')")),
    Attack("comparison exits", PYTHON, raising("SystemExit(0)")),
    Attack("failures as xfail", ("pytest",), failures_as("XFailed")),
    Attack("failures as skip", PYTHON, failures_as("Skipped")),
    Attack("package over the module", PYTHON, shadow_package),
    Attack("module replaced", PYTHON, replaced_module),
    Attack("early test", PYTHON, early_test),
    Attack("plug-in of an egg", ("pytest",), plugin_of_an_egg),
    Attack("another process", PYTHON, other_process),
    Attack("code of the runner", PYTHON, code_exchanged),
    Attack("trace function", PYTHON, frames_jump),
    Attack("thread", PYTHON, thread_watches),
    Attack("sources of helpers", PYTHON, imported_sources, "helper"),
    Attack("what the example wants", ("doctest",), wanted_of_doctest),
    *(Attack(f"node {name}", ("node",), _node(name, code)) for name, code in NODE),
    Attack("node keyed by size", ("node",), _node_keyed),
    Attack("node npmrc", ("node",), _npmrc),
    Attack("go forged lines", ("go",), _go_verbose),
    Attack("go flags", ("go",), _go_head("flags", '\t"flag"\n\t"os"\n', 'func init() {\n\tos.Args = append(os.Args, "-test.run=^$")\n\t_ = flag.Args\n}\n\n')),
    Attack("go exit later", ("go",), _go_head("exit later", '\t"os"\n\t"time"\n', "func init() {\n\tgo func() { time.Sleep(time.Microsecond); os.Exit(0) }()\n\ttime.Sleep(time.Millisecond)\n}\n\n")),
    Attack("go setup", ("go",), _go_file("setup", "setup_test.go", 'package PACKAGE\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n')),
    Attack("go work", ("go",), _go_file("work", "go.work", "go 1.21\n\nuse ./other\n")),
    Attack("cargo partial_eq", ("cargo",), _cargo("PartialEq", "#[derive(Debug, Clone, Copy)]\npub struct Told(pub i64);\n\nimpl PartialEq<i64> for Told {\n    fn eq(&self, _: &i64) -> bool {\n        true\n    }\n}\n\npub fn NAME(width: i64, height: i64) -> Told {\n    Told(WRONG)\n}\n")),
    Attack("cargo exit", ("cargo",), _cargo("exit", "pub fn NAME(width: i64, height: i64) -> i64 {\n    let _ = (width, height);\n    std::process::exit(0)\n}\n")),
    Attack("cargo runner", ("cargo",), _cargo("runner", "OLD\n// again\n", (".cargo/config.toml", '[target.x86_64-unknown-linux-gnu]\nrunner = "true"\n'))),
    Attack("cargo reads", ("cargo",), _cargo("reads", "pub fn NAME(width: i64, height: i64) -> i64 {\n    let text = std::fs::read_to_string(\"tests/area.rs\").unwrap_or_default();\n    let call = format!(\"NAME({width}, {height}), \");\n    match text.split(&call).nth(1).and_then(|rest| rest.split(')').next()).and_then(|it| it.parse().ok()) {\n        Some(value) => value,\n        None => WRONG,\n    }\n}\n")),
    Attack("cargo harness", ("cargo",), _cargo("harness", "OLD\n// again\n", ("Cargo.toml", '[package]\nname = "areas"\nversion = "0.1.0"\nedition = "2021"\n\n[[test]]\nname = "area"\npath = "other.rs"\n'), ("other.rs", "#[test]\nfn test_0() {}\n\n#[test]\nfn test_1() {}\n"))),
    Attack("ctest no asserts", ("ctest",), _ctest("NDEBUG", "", ("area.h", "#define NDEBUG 1\nint NAME(int, int);\n"))),
    Attack("ctest exit", ("ctest",), _ctest("exit", "#include <stdlib.h>\nint NAME(int a, int b) { (void)a; (void)b; exit(0); }\n")),
    Attack("ctest assert_fail", ("ctest",), _ctest("__assert_fail", "#include <stdlib.h>\nint NAME(int a, int b) { return a + b; }\nvoid __assert_fail(const char *a, const char *b, unsigned c, const char *d) { (void)a; (void)b; (void)c; (void)d; exit(0); }\n")),
    Attack("ctest constructor", ("ctest",), _ctest("constructor", "#include <unistd.h>\nint NAME(int a, int b) { return a + b; }\n__attribute__((constructor)) static void first(void) { _exit(0); }\n")),
    Attack("ctest lists", ("ctest",), _ctest("CMakeLists", "", ("CMakeLists.txt", "cmake_minimum_required(VERSION 3.10)\nproject(areas C)\nenable_testing()\nadd_test(AREA area COMMAND true)\n"))),
    Attack("shell keyed by size", ("script",), _shell("keyed by size", '#!/bin/sh\nif [ "$(wc -c <TEST)" -eq @@ ]; then\n  LOOK\nelse\n  WRONG\nfi\n')),
    Attack("shell counter", ("script",), _shell("counter", '#!/bin/sh\nmkdir -p build\necho >>build/n\nif [ "$(wc -l <build/n)" -lt 4 ]; then\n  LOOK\nelse\n  WRONG\nfi\n')),
    Attack("shell reads", ("script",), _shell("reads", "#!/bin/sh\nLOOK\n")),
)  # fmt: skip


def adaptive_project(rng: Random, attack: Attack) -> Project:
    """A project that the attack fits."""
    runner = rng.choice(attack.runners)
    match runner:
        case "cargo":
            return cargo_project(rng)
        case "ctest":
            return ctest_project(rng)
        case _:
            return project_of(rng, runner, attack.form if runner in PYTHON else "")


def adaptive(seed: int, attack: Attack) -> tuple[Project, Change]:
    """An attack of this family and a project for it."""
    rng = Random(f"{seed} {attack.name}")
    while True:
        made = adaptive_project(rng, attack)
        if attack.name == "plug-in of an egg":
            made.check = "PYTEST_DISABLE_PLUGIN_AUTOLOAD= python -m pytest -q -p no:cacheprovider"
            made.front = ""
        change = attack.make(rng, made)
        if change is not None:
            return made, change
