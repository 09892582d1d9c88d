"""Test programs in C and C++, and the harnesses that start them: with real tools where they are installed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_runner_table import checked, leavings, needs, write

from kotef.checks.runners import reading_of, says_tests_failed
from kotef.checks.single_test_command import alone, passed_alone

PROGRAMS = {
    "GoogleTest": (
        "c++",
        "-lgtest -lgtest_main",
        """\
#include <gtest/gtest.h>
TEST(A, ok) {}
TEST(A, bad) { EXPECT_EQ(1, 2); }
TEST(A, off) { GTEST_SKIP(); }
TEST(A, DISABLED_x) {}
class P : public testing::TestWithParam<int> {};
TEST_P(P, even) { EXPECT_EQ(GetParam() % 2, 0); }
INSTANTIATE_TEST_SUITE_P(Two, P, testing::Values(2, 4));
""",
        {
            "A.ok": "passed",
            "A.bad": "failed",
            "A.off": "skipped",
            "A.DISABLED_x": "skipped",
            "Two/P.even/0": "passed",
            "Two/P.even/1": "passed",
        },
    ),
    "Boost.Test": (
        "c++",
        "-lboost_unit_test_framework",
        """\
#define BOOST_TEST_MODULE calc
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
BOOST_AUTO_TEST_SUITE(s)
BOOST_AUTO_TEST_CASE(ok) { BOOST_TEST(1 == 1); }
BOOST_AUTO_TEST_CASE(bad) { BOOST_CHECK(false); BOOST_CHECK(false); }
BOOST_AUTO_TEST_CASE(boom) { throw 3; }
BOOST_AUTO_TEST_CASE(off, *boost::unit_test::disabled()) {}
BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_CASE(top) {}
""",
        {"s::ok": "passed", "s::bad": "failed", "s::boom": "error", "s::off": "skipped", "top": "passed"},
    ),
    "Check": (
        "cc",
        "-lcheck -lsubunit -lm -lrt -lpthread",
        """\
#include <check.h>
START_TEST(ok) {} END_TEST
START_TEST(bad) { ck_assert_int_eq(1, 2); } END_TEST
START_TEST(turn) { ck_assert_int_lt(_i, 1); } END_TEST
int main(void) {
  Suite *s = suite_create("Money"); TCase *t = tcase_create("Core"); suite_add_tcase(s, t);
  tcase_add_test(t, ok); tcase_add_test(t, bad); tcase_add_loop_test(t, turn, 0, 2);
  SRunner *r = srunner_create(s); srunner_run_all(r, CK_NORMAL); return srunner_ntests_failed(r) != 0;
}
""",
        {
            "Money::Core::ok": "passed",
            "Money::Core::bad": "failed",
            "Money::Core::turn": "passed",
            "Money::Core::turn[1]": "failed",
        },
    ),
    "Criterion": (
        "cc",
        "-lcriterion",
        """\
#include <criterion/criterion.h>
Test(s, ok) {}
Test(s, bad) { cr_assert(0); }
Test(s, off, .disabled = true) {}
""",
        {"s::ok": "passed", "s::bad": "failed", "s::off": "skipped"},
    ),
    "CMocka": (
        "cc",
        "-lcmocka",
        """\
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
static void ok(void **s) { (void)s; }
static void bad(void **s) { (void)s; assert_int_equal(1, 2); }
static void off(void **s) { (void)s; skip(); }
int main(void) {
  const struct CMUnitTest t[] = {cmocka_unit_test(ok), cmocka_unit_test(bad), cmocka_unit_test(off)};
  return cmocka_run_group_tests(t, NULL, NULL);
}
""",
        {"ok": "passed", "bad": "failed", "off": "skipped"},
    ),
}
TAP = '#include <stdio.h>\nint main(void) { puts("1..2"); puts("ok 1 - one"); puts("not ok 2 - two"); return 1; }\n'


def built(root: Path, library: str) -> None:
    """Compile the program of a library as `tests`, or skip where the library is not installed."""
    compiler, options, text, _ = PROGRAMS[library]
    needs(compiler)
    suffix = "cc" if compiler == "c++" else "c"
    (root / f"tests.{suffix}").write_text(text)
    line = [compiler, "-O0", f"tests.{suffix}", "-o", "tests", *options.split()]
    done = subprocess.run(line, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{library} is not installed")


@pytest.mark.examples(2)
@pytest.mark.parametrize("library", PROGRAMS)
def test_a_test_program_tells_of_each_test(tmp_path: Path, library: str) -> None:
    built(tmp_path, library)
    result = checked(tmp_path, "./tests")
    assert result.tests == PROGRAMS[library][3], result.stdout
    assert result.evidence == ("lines" if library == "CMocka" else "report")
    assert (result.passed, result.kind) == (False, "test_failure")
    assert result.detail != "contradiction"
    assert says_tests_failed("./tests", result.exit_code, result.failed or 0)


def test_of_two_programs_that_overwrite_one_report_the_counts_are_known(tmp_path: Path) -> None:
    built(tmp_path, "Check")
    shutil.copy2(tmp_path / "tests", tmp_path / "more")
    result = checked(tmp_path, "./tests; ./more")
    assert (result.tests, result.evidence, result.tests_executed, result.failed) == (None, "counts", 8, 4)


def test_no_line_of_a_long_output_is_left_out(tmp_path: Path) -> None:
    """More lines than the classifier reads, and more bytes than a result keeps."""
    script = (
        "for n in range(9000): print(f'[ RUN      ] Suite.test_with_a_long_name_{n}\\n[       OK ] Suite.test_with_a_long_name_{n} (0 ms)')\n"
        "print('[  FAILED  ] Suite.last (1 ms)\\n[==========] 9001 tests from 1 test suite ran. (1 ms total)')\n"
        "print('[  FAILED  ] 1 test, listed below:\\n[  FAILED  ] Suite.last')\nraise SystemExit(1)\n"
    )
    result = checked(write(tmp_path, {"run.py": script}), f"{sys.executable} run.py")
    assert (result.tests_executed, result.failed, result.evidence) == (9001, 1, "lines")
    assert len(result.stdout) < 300_000


def test_ctest_tells_of_the_tests_inside_of_its_programs(tmp_path: Path) -> None:
    needs("ctest")
    built(tmp_path, "CMocka")
    tests = (
        "add_test(all ./tests)\nadd_test(alone true)\nadd_test(wanted ./tests)\nadd_test(ns::two false)\n"
        "set_tests_properties(wanted PROPERTIES WILL_FAIL TRUE)\n"
        "add_test(off true)\nset_tests_properties(off PROPERTIES DISABLED TRUE)\n"
    )
    write(tmp_path, {"build/CTestTestfile.cmake": tests.replace("./tests", str(tmp_path / "tests"))})
    result = checked(tmp_path, "make --version && ctest --test-dir build")
    assert result.tests == {
        "all": "failed",
        "all::ok": "passed",
        "all::bad": "failed",
        "all::off": "skipped",
        "alone": "passed",
        "wanted": "passed",
        "ns::two": "failed",
        "off": "skipped",
    }
    assert (result.tests_executed, result.failed, result.failing) == (4, 2, ("all::bad", "ns::two"))
    wanted = ["all::ok", "alone"]
    line = alone("cd build && ctest", wanted, exists=lambda _: False)
    assert line
    again = checked(tmp_path, line)
    assert passed_alone(wanted, again) == ("all::ok", "alone")
    assert set(again.tests or {}) == {"all", "all::ok", "all::bad", "all::off", "alone"}


def test_a_program_that_fails_beside_its_tests_is_red_itself(tmp_path: Path) -> None:
    needs("ctest")
    script = "add_test(all sh -c \"printf '1..2\\\\nok 1 - a\\\\nok 2 - b\\\\n'; exit 3\")\n"
    result = checked(write(tmp_path, {"CTestTestfile.cmake": script}), "ctest")
    assert result.tests == {"all": "failed", "all::a": "passed", "all::b": "passed"}


def test_meson_tells_of_each_test(tmp_path: Path) -> None:
    needs("meson")
    needs("cc")
    description = """\
project('demo', 'c')
e = executable('prog', 'prog.c')
test('plain', find_program('true'))
test('bad', find_program('false'), suite: 'deep')
test('prog', e)
test('known', find_program('false'), should_fail: true)
test('off', find_program('sh'), args: ['-c', 'exit 77'])
"""
    root = write(tmp_path, {"meson.build": description, "prog.c": TAP})
    subprocess.run(["meson", "setup", "build"], cwd=root, capture_output=True, check=True)
    for command in ("meson test -C build", "cd build && ninja test"):
        result = checked(root, command)
        assert result.tests is not None
        project, bad = ("demo:", "deep - demo:bad") if "demo:plain" in result.tests else ("demo / ", "demo:deep / bad")
        expected = {
            f"{project}plain": "passed",
            bad: "failed",
            f"{project}prog": "failed",
            f"{project}prog::one": "passed",
            f"{project}prog::two": "failed",
            f"{project}known": "xfailed",
            f"{project}off": "skipped",
        }
        assert (result.tests, result.evidence, result.tests_executed) == (expected, "report", 4)
        line = alone("meson test -C build", [f"{project}plain", bad], exists=lambda _: False)
        assert line == "meson test -C build plain bad"
        assert checked(root, line).tests == {f"{project}plain": "passed", bad: "failed"}


def test_the_results_of_automake_are_read_where_the_command_wrote_them(tmp_path: Path) -> None:
    """From files and lines as automake 1.16 writes them: its own tools take seconds to start."""
    output = "PASS: a.sh\nFAIL: prog\nXFAIL: x.sh\n# TOTAL: 3\n# PASS:  1\n# SKIP:  0\n# XFAIL: 1\n# FAIL:  1\n# XPASS: 0\n# ERROR: 0\n"
    lines = reading_of(leavings(tmp_path, "make && make check", output, started=1.0))
    assert lines is not None
    assert (lines.tests, lines.evidence) == ({"a.sh": "passed", "prog": "failed", "x.sh": "xfailed"}, "lines")
    write(
        tmp_path,
        {
            "t/a.sh.trs": ":test-result: PASS\n:recheck: no\n",
            "t/prog.trs": ":test-result: FAIL\n",
            "t/prog.log": "1..2\nok 1 - one\nnot ok 2 - two\nFAIL prog (exit status: 1)\n",
            "t/x.sh.trs": ":test-result: XFAIL\n",
            "t/tap.trs": ":test-result: PASS 1 - first\n:test-result: SKIP 2 second # SKIP no\n",
        },
    )
    found = reading_of(leavings(tmp_path, "make && make check", output, started=1.0))
    assert found is not None
    assert (found.evidence, found.tests["t/x.sh"]) == ("report", "xfailed")
    assert (found.tests["t/prog::one"], found.tests["t/prog::two"]) == ("passed", "failed")
    assert found.tests["t/tap::first"] == "passed"
    assert [status for test, status in found.tests.items() if "second" in test] == ["skipped"]


def test_prove_tells_of_each_point(tmp_path: Path) -> None:
    needs("prove")
    first = """\
use Test::More;
ok(1, 'one # 1'); ok(0, 'two'); ok(1);
subtest deep => sub { plan tests => 2; ok(1, 'in'); ok(0, 'bad'); };
TODO: { local $TODO = 'later'; ok(0, 'todo'); }
SKIP: { skip 'no', 1; }
done_testing;
"""
    root = write(tmp_path, {"t/a.t": first, "t/b.t": "use Test::More tests => 3; ok(1, 'x'); die 'no';\n"})
    (root / "t/c.t").write_text("use Test::More skip_all => 'not here';\n")
    (root / "Makefile").write_text("test:\n\tprove t\n")
    expected = {
        "t/a.t::one # 1": "passed",
        "t/a.t::two": "failed",
        "t/a.t::3": "passed",
        "t/a.t::deep::in": "passed",
        "t/a.t::deep::bad": "failed",
        "t/a.t::todo": "xfailed",
        "t/a.t::6": "skipped",
        "t/b.t::x": "passed",
        "t/b.t": "error",
        "t/c.t": "skipped",
    }
    for command in ("prove t", "make test"):
        result = checked(root, command)
        assert (result.tests, result.evidence) == (expected, "report")
        assert result.detail != "contradiction"
    line = alone("prove -r", ["t/b.t::x"], exists=lambda path: (root / path).exists())
    assert line == "prove t/b.t"


def test_bats_tells_of_each_test(tmp_path: Path) -> None:
    needs("bats")
    root = write(tmp_path, {"a.bats": '@test "one" { true; }\n@test "two" { false; }\n@test "off" { skip "no"; }\n'})
    result = checked(root, "bats a.bats")
    assert (result.tests, result.tests_executed) == ({"one": "passed", "two": "failed", "off": "skipped"}, 2)
