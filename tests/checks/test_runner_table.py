"""The table of test runners: with real tools where they are installed, else from samples of output and reports."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.checks.runner import run_check
from kotef.checks.runners import RUNNERS, Leavings, RunnerCommand, reading_of, says_tests_failed
from kotef.checks.runners.plugin_reports import recorded
from kotef.checks.single_test_command import alone, passed_alone
from kotef.checks.tap import read_tap
from kotef.checks.types import CommandResult
from kotef.sandbox import child_environment
from kotef.shell import unwrap

PYTHON = sys.executable
HOME = Path.home()
CACHES = {"GOCACHE": HOME / ".cache/go-build", "RUSTUP_HOME": HOME / ".rustup", "CARGO_HOME": HOME / ".cargo"}
"""Of the machine, where it has them: a home of the test's own would have Go compile its library first."""
UNITTEST = """\
import doctest, os, subprocess, sys, unittest

def load_tests(loader, tests, pattern):
    tests.addTests(doctest.DocTestSuite(__import__("shop.prices", fromlist=["x"])))
    return tests

class Plain(unittest.TestCase):
    def test_passes(self): pass
    def test_fails(self): self.assertEqual(1, 2)
    def test_raises(self): raise ValueError("x")
    @unittest.skip("not today")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @unittest.expectedFailure
    def test_unexpected(self): pass
    def test_parts(self):
        for number in range(3):
            with self.subTest(number=number): self.assertEqual(number, 1)
    def test_skipped_part(self):
        with self.subTest(): self.skipTest("this part")

class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError("no")
    def test_never(self): pass

class Nested(unittest.TestCase):
    def test_runs_another(self):
        result = unittest.TestResult()
        Plain("test_fails").run(result)
        self.assertFalse(result.wasSuccessful())
    def test_starts_another(self):
        done = subprocess.run([sys.executable, "-m", "unittest", "tests.inner"], capture_output=True)
        self.assertEqual(done.returncode, 1)
    def test_forks(self):
        child = os.fork()
        if not child:
            try:
                result = unittest.TestResult()
                Plain("test_fails").run(result)
                result.stopTestRun()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
"""
OF_UNITTEST = {
    "tests/test_a.py::Plain::test_passes": "passed",
    "tests/test_a.py::Plain::test_fails": "failed",
    "tests/test_a.py::Plain::test_raises": "error",
    "tests/test_a.py::Plain::test_skipped": "skipped",
    "tests/test_a.py::Plain::test_expected": "xfailed",
    "tests/test_a.py::Plain::test_unexpected": "failed",
    "tests/test_a.py::Plain::test_parts": "failed",
    "tests/test_a.py::Plain::test_skipped_part": "skipped",
    "tests/test_a.py::Broken": "error",
    "tests/test_a.py::Nested::test_runs_another": "passed",
    "tests/test_a.py::Nested::test_starts_another": "passed",
    "tests/test_a.py::Nested::test_forks": "passed",
    "tests/test_b.py": "error",
    "shop/prices.py::shop.prices.half": "passed",
}


def environment() -> dict[str, str]:
    caches = {name: str(path) for name, path in CACHES.items() if path.is_dir()}
    return child_environment(os.environ) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | caches


def checked(root: Path, command: str, **env: str) -> CommandResult:
    whole = environment() | env
    return asyncio.run(run_check(command, root=root, env=whole, timeout=300, idle_timeout=None))


def needs(tool: str) -> str:
    path = shutil.which(tool)
    if path is None:
        pytest.skip(f"{tool} is not installed")
    return path


def write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return write(
        tmp_path,
        {
            "shop/__init__.py": "",
            "shop/prices.py": 'def half(x):\n    """\n    >>> half(4)\n    2\n    """\n    return x // 2\n',
            "tests/__init__.py": "",
            "tests/inner.py": "import unittest\nclass I(unittest.TestCase):\n    def test_i(self): self.fail()\n",
            "tests/test_a.py": UNITTEST,
            "tests/test_b.py": "import no_such_module\n",
            "tests/run.py": "import sys, unittest\nsys.path.insert(0, '.')\nunittest.main(module=None, argv=['x', 'discover'])\n",
            "Makefile": f"test:\n\t@{PYTHON} -m unittest\n",
        },
    )


@pytest.mark.parametrize(
    "command", [f"{PYTHON} -m unittest", f"{PYTHON} tests/run.py", "make test", f"sh -c '{PYTHON} -m unittest -q'"]
)
def test_unittest_in_any_form_tells_of_each_test(cases: Path, command: str) -> None:
    result = checked(cases, command)
    assert (result.tests, result.evidence) == (OF_UNITTEST, "report")
    assert result.failed == 6


def test_unittest_cases_under_pytest_are_reported_by_pytest_alone(cases: Path) -> None:
    (cases / "tests/test_b.py").unlink()
    result = checked(cases, f"{PYTHON} -m pytest -q -p no:cacheprovider tests")
    tests = result.tests or {}
    assert tests["tests/test_a.py::Broken::test_never"] == "error"
    assert "tests/test_a.py::Broken" not in tests
    assert not [test for test in tests if test.startswith("tests/inner")]


def test_of_every_pytest_in_a_command_there_is_a_report(tmp_path: Path) -> None:
    """One after the other, from one process, and inside of a test, which says nothing."""
    nested = (
        "import subprocess, sys\ndef test_inner():\n    subprocess.run([sys.executable, '-m', 'pytest', 'inner.py'])\n"
    )
    write(
        tmp_path,
        {
            "a.py": "def test_a(): pass\n",
            "b.py": nested,
            "c.py": "def test_c(): assert 0\n",
            "inner.py": "def test_i(): assert 0\n",
            "lf.py": "import os\ndef test_lf():\n    try: open('once', 'x')\n    except OSError: return\n    assert 0\ndef test_d(): pass\n",
            "both.py": "import subprocess, sys\nfor name in 'ac': subprocess.run([sys.executable, '-m', 'pytest', name + '.py'])\n",
        },
    )
    run = f"{PYTHON} -m pytest -q -p no:cacheprovider"
    result = checked(tmp_path, f"{run} b.py && {PYTHON} both.py")
    assert result.tests == {"a.py::test_a": "passed", "b.py::test_inner": "passed", "c.py::test_c": "failed"}
    again = checked(tmp_path, f"{PYTHON} -m pytest lf.py || {PYTHON} -m pytest --lf lf.py")
    assert (again.passed, again.tests) == (True, {"lf.py::test_lf": "passed", "lf.py::test_d": "passed"})


@pytest.mark.parametrize("flags", ["-S", "-I", "-E"])
def test_an_interpreter_that_reads_no_environment_runs_as_it_would(tmp_path: Path, flags: str) -> None:
    write(tmp_path, {"test_a.py": "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n"})
    result = checked(
        tmp_path,
        f"{PYTHON} {flags} -c \"import sys; sys.path.insert(0, '.'); import unittest; unittest.main('test_a')\"",
    )
    assert (result.exit_code, result.evidence) == (0, "counts")


def test_a_sitecustomize_of_the_project_is_run_too(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "lib/sitecustomize.py": "import sys\nsys.theirs = True\n",
            "t.py": "import sys, sitecustomize\nprint(sys.theirs, sitecustomize.__file__)\n",
        },
    )
    result = checked(tmp_path, f"{PYTHON} t.py", PYTHONPATH=str(tmp_path / "lib"))
    assert result.stdout.split() == ["True", str(tmp_path / "lib/sitecustomize.py")]


def test_a_run_that_leaves_in_the_middle_has_no_report(tmp_path: Path) -> None:
    """What passed until then says nothing: the tests behind it never ran."""
    body = "import os, unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n    def test_b(self): os._exit(0)\n    def test_c(self): self.fail()\n"
    result = checked(write(tmp_path, {"test_a.py": body}), f"{PYTHON} -m unittest")
    assert (result.tests, result.tests_executed) == (None, None)


def test_a_test_of_unittest_is_run_alone_by_its_id(cases: Path) -> None:
    wanted = ("tests/test_a.py::Plain::test_passes", "tests/test_a.py::Nested::test_forks")
    command = alone(f"{PYTHON} -m unittest", wanted, exists=lambda path: (cases / path).exists())
    assert command
    assert passed_alone(wanted, checked(cases, command)) == wanted


GO = {
    "go.mod": "module example.com/shop/v2\n\ngo 1.18\n",
    "shop.go": "package shop\n\nfunc Add(a, b int) int { return a - b }\n",
    "shop_test.go": """\
package shop

import ("fmt"; "testing")

func TestAdd(t *testing.T) {
	t.Run("one and two", func(t *testing.T) { t.Log("said\\ntwice"); t.Errorf("got %d", Add(1, 2)) })
	t.Run("zero", func(t *testing.T) { t.Log("not shown") })
}
func TestPrints(t *testing.T) { fmt.Println("shown"); t.Log("hidden") }
func TestSkips(t *testing.T) { t.Skip("not today") }
func ExampleAdd() { fmt.Println(Add(3, 2))
	// Output: 1
}
""",
    "inside/a_test.go": 'package inside\n\nimport "testing"\n\nfunc TestA(t *testing.T) { t.Parallel() }\n',
    "broken/a_test.go": "package broken\n\nfunc TestA(t *testing.T) {}\n",
    "Makefile": "test:\n\tgo test ./...\n",
}
OF_GO = {
    "shop::TestAdd": "failed",
    "shop::TestAdd/one_and_two": "failed",
    "shop::TestAdd/zero": "passed",
    "shop::TestPrints": "passed",
    "shop::TestSkips": "skipped",
    "shop::ExampleAdd": "passed",
    "inside::TestA": "passed",
    "broken": "error",
}


def test_go_test_tells_of_tests_and_subtests_and_prints_the_same(tmp_path: Path) -> None:
    needs("go")
    root = write(tmp_path, GO)
    result = checked(root, "go test -vet=off ./...", GOPROXY="off")
    assert (result.tests, result.evidence, result.tests_executed) == (OF_GO, "report", 6)
    line = ["go", "test", "-vet=off", "./..."]
    plain = subprocess.run(line, cwd=root, env=environment(), capture_output=True, text=True, check=False)
    untimed = [[line.split("\t")[:2] for line in text.splitlines()] for text in (result.stdout, plain.stdout)]
    assert untimed[0] == untimed[1]
    assert checked(root, "make test").tests == OF_GO
    verbose = checked(root, "go test -v ./inside")
    assert "--- PASS: TestA" in verbose.stdout
    assert verbose.tests == {"inside::TestA": "passed"}
    again = alone("go test ./...", ("shop::TestAdd/zero", "inside::TestA"), exists=lambda path: (root / path).exists())
    assert again == "go test -run '^(TestAdd|TestA)$' . ./inside"
    assert not checked(root, "go vet ./inside && go build ./inside && go list ./inside").tests


NODE = """\
const { test, describe, it } = require('node:test');
const assert = require('node:assert');
test('plain', () => {});
describe('suite', () => {
  it('one', () => {});
  it('two', () => assert.equal(1, 2));
  it.skip('three', () => {});
  it('four', { todo: true }, () => assert.ok(0));
});
test('parent', async (t) => { await t.test('child :: odd', () => {}); });
"""
OF_NODE = {
    "test/a.test.js::plain": "passed",
    "test/a.test.js::suite::one": "passed",
    "test/a.test.js::suite::two": "failed",
    "test/a.test.js::suite::three": "skipped",
    "test/a.test.js::suite::four": "xfailed",
    "test/a.test.js::parent::child :: odd": "passed",
    "test/a.test.js::parent": "passed",
    "test/b.test.js": "error",
}


@pytest.mark.examples(1)
@pytest.mark.parametrize("command", ["node --test", "npm test", "node --test --test-reporter=spec"])
def test_the_runner_of_node_tells_of_each_test(tmp_path: Path, command: str) -> None:
    needs("npm" if command.startswith("npm") else "node")
    manifest = json.dumps({"name": "a", "scripts": {"test": "node --test"}})
    root = write(
        tmp_path, {"test/a.test.js": NODE, "test/b.test.js": "throw new Error('x');\n", "package.json": manifest}
    )
    result = checked(root, command)
    assert (result.tests, result.evidence) == (OF_NODE, "report")
    if not command.startswith("npm"):
        line = alone(command, ["test/a.test.js::suite::one"], exists=lambda path: (root / path).exists())
        assert line
        assert (checked(root, line).tests or {})["test/a.test.js::suite::one"] == "passed"


def test_cargo_tells_of_each_test_by_the_file_of_its_target(tmp_path: Path) -> None:
    needs("cargo")
    library = """\
/// ```
/// assert_eq!(shop::add(1, 2), 3);
/// ```
pub fn add(a: i32, b: i32) -> i32 { a + b }
#[cfg(test)]
mod tests {
    #[test] fn ok() {}
    #[test] fn bad() { assert_eq!(super::add(1, 1), 3); }
    #[test] #[ignore] fn slow() {}
    #[test] #[should_panic] fn panics() { panic!() }
}
"""
    manifest = '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n'
    root = write(tmp_path, {"Cargo.toml": manifest, "src/lib.rs": library, "tests/it.rs": "#[test] fn outer() {}\n"})
    result = checked(root, "cargo test --offline --no-fail-fast")
    assert result.evidence == "lines"
    assert result.tests == {
        "src/lib.rs::tests::ok": "passed",
        "src/lib.rs::tests::bad": "failed",
        "src/lib.rs::tests::slow": "skipped",
        "src/lib.rs::tests::panics": "passed",
        "tests/it.rs::outer": "passed",
        "src/lib.rs::add (doctest)": "passed",
    }
    assert says_tests_failed("cargo test", result.exit_code, 1)
    line = alone("cargo test --offline", ["src/lib.rs::tests::bad"], exists=lambda _: False)
    assert line == "cargo test --offline -- --exact tests::bad"


def test_ctest_tells_of_each_test(tmp_path: Path) -> None:
    needs("ctest")
    tests = (
        'add_test(ok true)\nadd_test(bad.one false)\nadd_test(gone /no/such/program)\nadd_test(off sh -c "exit 77")\n'
    )
    root = write(
        tmp_path, {"CTestTestfile.cmake": f"{tests}set_tests_properties(off PROPERTIES SKIP_RETURN_CODE 77)\n"}
    )
    result = checked(root, "ctest")
    assert (result.tests, result.evidence) == (
        {"ok": "passed", "bad.one": "failed", "gone": "failed", "off": "skipped"},
        "lines",
    )
    assert says_tests_failed("ctest", result.exit_code, 2)
    line = alone("ctest", ["bad.one"], exists=lambda _: False)
    assert line
    assert checked(root, line).tests == {"bad.one": "failed"}


def leavings(root: Path, command: str, stdout: str = "", stderr: str = "", *, started: float = 0.0) -> Leavings:
    return Leavings(RunnerCommand(command, unwrap(command), root, root), started, stdout, stderr)


def test_reports_of_surefire_and_gradle_are_read_if_the_command_wrote_them(tmp_path: Path) -> None:
    case = '<testcase classname="{}" name="{}">{}</testcase>'
    xml = "".join(
        (
            case.format("com.x.ATest", "ok()", ""),
            case.format("com.x.ATest$Inner", "deep", "<failure/>"),
            case.format("com.x.Gone", "off", "<skipped/>"),
        )
    )
    root = write(
        tmp_path,
        {
            "core/src/test/java/com/x/ATest.java": "",
            "core/target/surefire-reports/TEST-com.x.ATest.xml": f"<testsuite>{xml}</testsuite>",
            "app/build/test-results/test/TEST-b.xml": "<testsuite><testcase classname='b.B' name='t'/></testsuite>",
            "core/target/surefire-reports/TEST-old.xml": "<testsuite><testcase classname='o.O' name='t'/></testsuite>",
        },
    )
    os.utime(root / "core/target/surefire-reports/TEST-old.xml", (1, 1))
    reading = reading_of(leavings(root, "mvn -q test", started=1000.0))
    assert reading is not None
    assert reading.tests == {
        "core/src/test/java/com/x/ATest.java::ok": "passed",
        "core/src/test/java/com/x/ATest.java::Inner::deep": "failed",
        "com.x.Gone::off": "skipped",
        "b.B::t": "passed",
    }
    (root / "app/build/test-results/test/TEST-b.xml").unlink()
    (root / "core/target/surefire-reports/TEST-com.x.ATest.xml").write_text("<testsuite><testcase name='t'")
    assert reading_of(leavings(root, "mvn -q test", started=1000.0)) is None


def test_tests_of_maven_are_run_alone_by_class_and_method(tmp_path: Path) -> None:
    """Nested classes, turns of repeated and parameterized tests as Surefire 3.2 with JUnit 5 writes them."""
    names = ("ok", "each(int)[1]", "each(int)[2]", "twice", "twice")
    cases = "".join(f'<testcase classname="com.x.ATest" name="{name}"/>' for name in names)
    inner = '<testcase classname="com.x.ATest$Deep$Deeper" name="most"/>'
    root = write(
        tmp_path,
        {
            "core/src/test/java/com/x/ATest.java": "",
            "core/target/surefire-reports/TEST-com.x.ATest.xml": f"<testsuite>{cases}{inner}</testsuite>",
        },
    )
    reading = reading_of(leavings(root, "mvn test", started=1000.0))
    assert reading is not None
    place = "core/src/test/java/com/x/ATest.java"
    assert [test.removeprefix(f"{place}::") for test in reading.tests] == [
        *("ok", "each(int)[1]", "each(int)[2]", "twice", "twice [2]", "Deep::Deeper::most"),
    ]
    line = alone("./mvnw -q test", list(reading.tests), exists=lambda _: True)
    assert line is not None
    assert "'-Dtest=com.x.ATest#ok,com.x.ATest#each,com.x.ATest#twice,com.x.ATest$Deep$Deeper#most'" in line
    assert alone("mvn test -Dtest=BTest", [f"{place}::ok"], exists=lambda _: True) is None
    assert alone("mvn test", [f"{place}::a name of words"], exists=lambda _: True) is None


def test_tests_of_gradle_are_run_alone_by_class_and_method() -> None:
    place = "src/test/java/com/x/ATest.java"
    line = alone("./gradlew test --info", [f"{place}::ok", f"{place}::Deep::most"], exists=lambda _: True)
    assert line == "./gradlew test --tests com.x.ATest.ok --tests 'com.x.ATest$Deep.most' --info"
    assert alone("gradle check", [f"{place}::ok"], exists=lambda _: True) is None
    assert alone("gradle test", [f"core/{place}::ok"], exists=lambda _: True) is None, "other modules have no such test"


LINES = {
    "GoogleTest": "[ RUN      ] A.ok\n[       OK ] A.ok (0 ms)\n[ RUN      ] A.bad\na.cc:3: Failure\n[  FAILED  ] A.bad (1 ms)\n[==========] 2 tests from 1 test suite ran. (1 ms total)\n[  PASSED  ] 1 test.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.bad\n",
    "deno test": "running 2 tests from ./a_test.ts\nok ... ok (1ms)\nbad ... FAILED (2ms)\n\nFAILED | 1 passed | 1 failed (5ms)\n",
    "bun test": "a.test.ts:\n(pass) ok [0.10ms]\n(fail) bad [0.20ms]\n\n 1 pass\n 1 fail\nRan 2 tests across 1 file. [8.00ms]\n",
    "minitest -v": "A#ok = 0.00 s = .\nA#bad = 0.00 s = F\n\n2 runs, 2 assertions, 1 failures, 0 errors, 0 skips\n",
    "test-unit -v": "Loaded suite t\nStarted\nATest: \n  test_ok:\t\t.: (0.000071)\n  test_bad:\t\tF\n===\nFailure: test_bad(ATest)\n: (0.007180)\n\n2 tests, 2 assertions, 1 failures, 0 errors, 0 pendings, 0 omissions, 0 notifications\n",
    "XCTest": "Test Case 'A.ok' passed (0.001 seconds)\nTest Case 'A.bad' failed (0.001 seconds)\n\t Executed 2 tests, with 1 failure (0 unexpected) in 0.002 (0.002) seconds\n",
    "dotnet test": "  Passed A.ok [1 ms]\n  Failed A.bad [2 ms]\n\nFailed!  - Failed:     1, Passed:     1, Skipped:     0, Total:     2, Duration: 5 ms\n",
    "nextest": "        PASS [   0.005s] demo tests::ok\n        FAIL [   0.006s] demo tests::bad\n     Summary [   0.011s] 2 tests run: 1 passed, 1 failed, 0 skipped\n        FAIL [   0.006s] demo tests::bad\n",
    "unittest -v": "test_ok (a.A.test_ok) ... ok\ntest_bad (a.A.test_bad) ... FAIL\n\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n",
}


@pytest.mark.parametrize("runner", LINES)
def test_verbose_lines_are_read_where_they_agree_with_the_counts(tmp_path: Path, runner: str) -> None:
    reading = reading_of(leavings(tmp_path, "sh test.sh", LINES[runner]))
    assert reading is not None
    assert reading.evidence == "lines"
    statuses = {test.rpartition("::")[2].split()[0].rpartition(".")[2]: how for test, how in reading.tests.items()}
    assert sorted(statuses.values()) == ["failed", "passed"]
    assert next(name for name, how in statuses.items() if how == "failed").endswith("bad")
    first = next(line for line in LINES[runner].splitlines() if "ok" in line and "running" not in line.lower())
    fewer = (
        LINES[runner].replace(f"{first}\n", "")
        if runner != "GoogleTest"
        else LINES[runner].replace("[       OK ] A.ok (0 ms)\n", "")
    )
    assert reading_of(leavings(tmp_path, "sh test.sh", fewer)) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[",
        b"[" * 100_000,
        b"null",
        b'{"tests": {}}',
        b'{"tests": [["a.py", "a", ["t"], "fine"]]}',
        b'{"tests": [["a.py", "a", [1], "passed"]]}',
        b'{"tests": [["", "", [], "passed"]]}',
        b'{"testResults": [{"name": "a", "assertionResults": [null]}]}',
    ],
)
def test_a_damaged_record_is_no_report_whatever_the_others_say(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "go-1.json").write_text('{"tests": [["", "a", ["T"], "passed"]]}')
    assert recorded(tmp_path, tmp_path, ("go",)) == {"a::T": "passed"}
    (tmp_path / "go-2.json").write_bytes(content)
    assert recorded(tmp_path, tmp_path, ("go",)) is None
    (tmp_path / "go-2.json").unlink()
    (tmp_path / "go-2.json").symlink_to("/etc/passwd")
    assert recorded(tmp_path, tmp_path, ("go",)) is None


@given(st.lists(st.text(max_size=600), min_size=1, max_size=3), st.sampled_from(["passed", "failed", "skipped"]))
def test_an_id_is_one_bounded_line_whatever_a_test_is_called(tmp_path_factory, names: list[str], status: str) -> None:
    folder = tmp_path_factory.mktemp("records")
    tests = [["", "place", names, status], ["", "place", names, "passed"]]
    (folder / "go-1.json").write_text(json.dumps({"tests": tests}))
    found = recorded(folder, folder, ("go",))
    assert found is not None
    ((test, worst),) = found.items()
    assert worst == status
    assert len(test.splitlines()) == 1
    assert len(test) < 500 * 4


def test_tests_of_one_name_in_a_report_are_counted_each(tmp_path: Path) -> None:
    case = ["", "a", ["t"], "passed"]
    (tmp_path / "mocha-1.json").write_text(json.dumps({"tests": [case, case, ["", "a", ["t"], "failed"]]}))
    (tmp_path / "mocha-2.json").write_text(json.dumps({"tests": [case]}))
    assert recorded(tmp_path, tmp_path, ("mocha",)) == {"a::t": "failed"}
    assert recorded(tmp_path, tmp_path, ("mocha",), repeats=False) == {
        "a::t": "passed",
        "a::t (2)": "passed",
        "a::t (3)": "failed",
    }


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("npx jest", r"npx jest -t '^\s*(?:a\s+b(?:\s+\(2\))?)$'"),
        ("npx vitest run", r"npx vitest run -t '^\s*(?:a(?:\s+>)?\s+b(?:\s+\(2\))?)$'"),
        ("npx mocha", r"npx mocha --grep '^\s*(?:a\s+b(?:\s+\(2\))?)$'"),
        ("npx ava", None),
        ("npx playwright test", r"npx playwright test --grep '(?:^|\s)(?:b(?:\s+\(2\))?)$'"),
        ("npx playwright show-report", None),
    ],
)
def test_a_number_that_tells_tests_apart_need_not_be_part_of_the_title(command: str, told: str | None) -> None:
    line = alone(command, ["t.js::a::b (2)"], exists=lambda _: True)
    assert line == (told or ("npx ava '--match=a::b (2)'" if "ava" in command else None))


TAPE = """\
TAP version 13
# one
ok 1 is fine
ok 2 should be equal
ok 3 should be equal
# SKIP off
# two
not ok 4 should be equal
  ---
    operator: equal
  ...

1..4
# tests 4
# pass  3
# fail  1
"""
NODE_TAP = """\
TAP version 14
# Subtest: test/a.js
    # Subtest: outer
        # Subtest: inner
            ok 1 - (unnamed test)
            1..1
        ok 1 - inner # time=0.5ms
        ok 2 - beside it
        1..2
    ok 1 - outer # time=1.5ms
    not ok 2 - two # time=3ms
      ---
      at:
        fileName: a.js
      ...
    ok 3 - off # SKIP no
    1..3
not ok 1 - test/a.js # time=65.7ms
  ---
  exitCode: 1
  ...
ok 2 - test/b.js # time=9ms {
    ok 1 - b # time=4ms
    ok 2 - b # time=4ms
    1..2
}
not ok 3 - test/c.js # time=9ms

1..3
# { total: 7, pass: 4, fail: 2, skip: 1 }
# time=513.979ms
"""
OF_TAP = {
    TAPE: {
        "one::is fine": "passed",
        "one::should be equal": "passed",
        "one::should be equal (2)": "passed",
        "two::should be equal": "failed",
    },
    NODE_TAP: {
        "test/a.js::outer::inner::(unnamed test)": "passed",
        "test/a.js::outer::beside it": "passed",
        "test/a.js::two": "failed",
        "test/a.js::off": "skipped",
        "test/b.js::b": "passed",
        "test/b.js::b (2)": "passed",
        "test/c.js": "error",
    },
}


@pytest.mark.parametrize("output", OF_TAP, ids=["tape", "node-tap"])
def test_tap_of_javascript_is_counted_as_its_runner_counts(tmp_path: Path, output: str) -> None:
    write(tmp_path, {f"test/{name}.js": "" for name in "abc"})
    reading = reading_of(leavings(tmp_path, "npm test", output))
    assert reading is not None
    assert (reading.tests, reading.evidence) == (OF_TAP[output], "lines")


def test_tests_run_without_our_wish_for_no_colours(tmp_path: Path) -> None:
    """A program that colours its output tests that it does: with NO_COLOR set by us its tests would fail."""
    (tmp_path / "test.sh").write_text('test -z "$NO_COLOR"\n')
    assert environment()["NO_COLOR"]
    assert checked(tmp_path, "make -f /dev/null -s --eval 'test: ; sh test.sh' test").passed


def test_each_row_says_what_its_ids_are() -> None:
    assert all(row.ids and (row.report or row.lines) for row in RUNNERS)
    assert len({row.name for row in RUNNERS}) == len(RUNNERS)


def test_the_page_of_the_documentation_has_every_row() -> None:
    page = (Path(__file__).parents[2] / "docs/test-runners.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    table = {cells[0]: cells[1:] for cells in rows if len(cells) == 5}
    for runner in RUNNERS:
        _, ids, _, tried = table[runner.name]
        assert (ids, tried.startswith("untried: ")) == (runner.ids, runner.untried), runner.name
    assert len(table) == len(RUNNERS) + 2, "the heading and its rule"


def test_the_seconds_that_node_tap_prints_are_no_part_of_a_name() -> None:
    lines = (
        "ok 1 - a.js # time=2678.432ms {",
        "    ok 1 - b # time=1ms",
        "ok 2 - c # SKIP later # time=0.1ms",
        "ok 3 - d {",
    )
    assert [point.names[-1] for point in read_tap(lines).points] == ["a.js", "b", "c", "d {"]
