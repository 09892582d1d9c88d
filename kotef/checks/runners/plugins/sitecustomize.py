"""A recorder of unittest results, test by test; it runs in the project's interpreter, whatever its version.

Imported by Python itself at its start. Nothing happens until `unittest` is imported, and nothing if no report is
asked for. Processes that a test starts, forked ones, and runs inside a test tell nothing.
"""

import os
import sys

_FOLDER = os.environ.get("KOTEF_REPORTS", "")
_NESTED = "KOTEF_REPORTS_NESTED"
_WORST = ("passed", "xfailed", "skipped", "failed", "error")


class _Record:
    """What became of each test of this process."""

    def __init__(self):
        self.pid = os.getpid()
        self.owner = None
        self.running = None
        self.tests = {}
        self.executed = set()
        self.path = None

    def is_ours(self, result):
        if os.getpid() != self.pid or "PYTEST_CURRENT_TEST" in os.environ:
            return False
        return self.running is None or self.owner is result

    def started(self, result, test):
        if not self.is_ours(result) or self.running is not None:
            return
        if self.path is None and os.environ.get(_NESTED, str(self.pid)) != str(self.pid):
            return
        os.environ[_NESTED] = str(self.pid)
        self.owner, self.running = result, test
        self.withdraw()

    def stopped(self, result, test):
        if self.owner is result and self.running is test:
            self.running = None

    def ended(self, result, test, status):
        if not self.is_ours(result) or os.environ.get(_NESTED, str(self.pid)) != str(self.pid):
            return
        key = _key(test.test_case if type(test).__name__ == "_SubTest" else test)
        was = self.tests.get(key, "passed")
        self.tests[key] = max(was, status, key=_WORST.index)

    def withdraw(self):
        if self.path is not None:
            try:
                os.unlink(self.path)
            except OSError:
                pass
            self.path = None

    def write(self):
        if os.getpid() != self.pid or self.running is not None or not self.tests:
            return
        import json

        tests = [[key[0], key[1], list(key[2]), status] for key, status in self.tests.items()]
        path = os.path.join(_FOLDER, "unittest-%d.json" % self.pid)
        try:
            with open(path + ".part", "w") as stream:
                json.dump({"runner": "unittest", "tests": tests}, stream)
            os.rename(path + ".part", path)
        except OSError:
            return
        self.path = path


def _file(module):
    path = getattr(sys.modules.get(module), "__file__", None)
    return os.path.realpath(path) if path else ""


def _found(module):
    """The file a dotted name stands for, imported or not."""
    inside = os.path.join(*module.split("."))
    for folder in sys.path:
        for path in (inside + ".py", os.path.join(inside, "__init__.py")):
            if os.path.isfile(os.path.join(folder, path)):
                return os.path.realpath(os.path.join(folder, path))
    return ""


def _key(test):
    """File, module and the names below it."""
    kind = type(test)
    module, name = kind.__module__, getattr(kind, "__qualname__", kind.__name__)
    if name == "_ErrorHolder":
        return _fixture(str(getattr(test, "description", "")))
    if name in ("_FailedTest", "ModuleImportFailure", "LoadTestsFailure"):
        missing = test.id()[len(module) + len(name) + 2 :]
        return _found(missing) if missing else "", missing, ()
    if module == "doctest":
        doctest = getattr(test, "_dt_test", None)
        if doctest is not None:
            return os.path.realpath(doctest.filename or ""), doctest.name.split(".")[0], (doctest.name,)
    whole, head = test.id(), module + "." + name + "."
    last = whole[len(head) :] if whole.startswith(head) else whole
    return _file(module), module, tuple(name.split(".")) + (last,)


def _fixture(said):
    """`setUpClass (tests.test_a.A)` stands for the tests of the class, `setUpModule (tests.test_a)` for the module."""
    what, _, where = said.partition(" (")
    where = where.rstrip(")")
    if "Module" in what:
        return _file(where) or _found(where), where, ()
    module, names = where, ()
    while module and module not in sys.modules:
        module, _, name = module.rpartition(".")
        names = (name,) + names
    return _file(module), module, names


def _watched(result_class, record):
    def hooked(name, before):
        original = getattr(result_class, name, None)
        if original is None:
            return

        def method(self, *args, **kwargs):
            try:
                before(self, *args)
            except Exception:  # a test or result class of the project may raise anything: its tests come first
                pass
            return original(self, *args, **kwargs)

        method.__name__, method.__doc__ = name, original.__doc__
        setattr(result_class, name, method)

    def ends(status):
        return lambda result, test, *_: record.ended(result, test, status)

    def subtest_ended(result, test, _, error=None):
        if error is not None:
            failed = issubclass(error[0], getattr(test, "failureException", AssertionError))
            record.ended(result, test, "failed" if failed else "error")

    hooked("startTest", record.started)
    hooked("stopTest", record.stopped)
    hooked("addSuccess", ends("passed"))
    hooked("addError", ends("error"))
    hooked("addFailure", ends("failed"))
    hooked("addSkip", ends("skipped"))
    hooked("addExpectedFailure", ends("xfailed"))
    hooked("addUnexpectedSuccess", ends("failed"))
    hooked("addSubTest", subtest_ended)
    hooked("stopTestRun", lambda result: record.write() if record.owner in (None, result) else None)


class _Loader:
    """Loads `unittest.result` as its own loader does, and then looks on."""

    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        import atexit

        record = _Record()
        _watched(module.TestResult, record)
        atexit.register(record.write)


class _Finder:
    """Waits for `unittest.result`."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "unittest.result":
            return None
        if cls in sys.meta_path:
            sys.meta_path.remove(cls)
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
            if spec is not None and hasattr(spec.loader, "exec_module"):
                spec.loader = _Loader(spec.loader)  # pyright: ignore[reportAttributeAccessIssue]
            if spec is not None:
                return spec
        return None


def _own_report_of_pytest():
    """A report for each process: of two pytests in one command the second would overwrite the first's."""
    options, place = os.environ.get("PYTEST_ADDOPTS", ""), os.path.join(_FOLDER, "junit")
    head, found, rest = options.partition(place)
    if found and ".xml" in rest and "PYTEST_CURRENT_TEST" not in os.environ:
        os.environ["PYTEST_ADDOPTS"] = "%s%s-%d%s" % (head, place, os.getpid(), rest[rest.index(".xml") :])


def _next_sitecustomize():
    """Import the module that would be here without us; ours stays if there is none."""
    ours = sys.modules.pop("sitecustomize")
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder) != here]
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        sys.modules["sitecustomize"] = ours
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
    except BaseException:
        sys.modules.setdefault("sitecustomize", ours)
        raise


if _FOLDER and __name__ == "sitecustomize":
    if sys.version_info[0] > 2 and "unittest.result" not in sys.modules:
        sys.meta_path.insert(0, _Finder)
    _own_report_of_pytest()
    _next_sitecustomize()
