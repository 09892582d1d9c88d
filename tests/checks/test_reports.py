"""The report of pytest itself, from real runs, and what hostile ones do."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.checks.reports import REPORT_NAME, executed, parse_junit, report_request, worse

SUITE = """
import pytest

class TestA:
    @pytest.mark.parametrize("x", [1, "a/b::c [d]"])
    def test_p(self, x): pass
    class TestInner:
        def test_i(self): assert 0

def test_ok(): pass
@pytest.mark.skip
def test_skip(): pass
@pytest.mark.xfail
def test_xfail(): assert 0
@pytest.mark.xfail(strict=True)
def test_strict(): pass
@pytest.fixture
def bad_teardown():
    yield
    raise ValueError
def test_teardown(bad_teardown): pass
@pytest.fixture
def bad_setup(): raise ValueError
def test_setup(bad_setup): pass
"""


def run_pytest(root: Path, *arguments: str) -> bytes:
    env = {
        "PATH": "/usr/bin:/bin",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        **report_request(root / "out dir", {"PYTEST_ADDOPTS": "-p no:cacheprovider"}),
    }
    (root / "out dir").mkdir()
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *arguments], cwd=root, env=env, check=False, capture_output=True
    )
    return (root / "out dir" / REPORT_NAME).read_bytes()


def test_ids_are_pytests_own(tmp_path: Path):
    """As `pytest -rA` prints them: nested classes, parameters, inherited tests, files that cannot be collected."""
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "__init__.py").touch()
    (tests / "test_a.py").write_text(SUITE)
    (tests / "test_b.py").write_text("import not_there")
    (tests / "test_c.py").write_text("import pytest\npytest.skip('no', allow_module_level=True)")
    (tests / "test_d.py").write_text("from tests.test_a import TestA as Base\nclass TestD(Base): pass")

    found = parse_junit(run_pytest(tmp_path, "--continue-on-collection-errors"))

    assert found == {
        "tests/test_a.py::TestA::test_p[1]": "passed",
        "tests/test_a.py::TestA::test_p[a/b::c [d]]": "passed",
        "tests/test_a.py::TestA::TestInner::test_i": "failed",
        "tests/test_a.py::test_ok": "passed",
        "tests/test_a.py::test_skip": "skipped",
        "tests/test_a.py::test_xfail": "xfailed",
        "tests/test_a.py::test_strict": "failed",
        "tests/test_a.py::test_teardown": "error",
        "tests/test_a.py::test_setup": "error",
        "tests/test_b.py": "error",
        "tests/test_c.py": "skipped",
        "tests/test_d.py::TestD::test_p[1]": "passed",
        "tests/test_d.py::TestD::test_p[a/b::c [d]]": "passed",
        "tests/test_d.py::TestD::TestInner::test_i": "failed",
    }
    assert executed(found) == 11, "skips and a file that could not be collected did not run"


def test_a_run_without_tests_is_an_empty_report_not_none(tmp_path: Path):
    (tmp_path / "test_a.py").write_text("def test_a(): pass")

    assert parse_junit(run_pytest(tmp_path, "-k", "nothing")) == {}


def test_the_request_keeps_what_was_there():
    asked = report_request(Path("/r"), {"PYTEST_ADDOPTS": "-x", "TOX_OVERRIDE": "testenv.deps=a"})

    assert asked["PYTEST_ADDOPTS"] == "-x --junitxml=/r/junit.xml -o junit_family=xunit1"
    assert asked["TOX_OVERRIDE"] == "testenv.deps=a"
    assert report_request(Path("/r"), {})["TOX_OVERRIDE"] == "testenv.pass_env+=PYTEST_ADDOPTS"


BOMB = b"""<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY c "&a;&a;&a;&a;&a;&a;">]>
<testsuites><testcase name="&c;" classname="x"/></testsuites>"""
FILE = b"""<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuites>&a;</testsuites>"""


@pytest.mark.parametrize(
    "xml",
    [
        b"",
        b"<testsuites><testcase name='a'",
        BOMB,
        FILE,
        b"<html><testcase name='a' classname='b'/></html>",
        b"\0\0\0",
        b"<?xml version='1.0' encoding='no-such'?><testsuites/>",
        b"<?xml version='1.0' encoding='utf-8'?><testsuites>\xff</testsuites>",
    ],
)
def test_a_report_that_is_none_is_none(xml: bytes):
    assert parse_junit(xml) is None


def test_the_worst_of_two_entries_for_one_id_counts():
    case = b"<testcase file='t.py' classname='t' name='a'>%b</testcase>"
    xml = b"<testsuites><testsuite>" + case % b"<error/>" + case % b"" + b"</testsuite></testsuites>"

    assert parse_junit(xml) == {"t.py::a": "error"}
    assert parse_junit(b"<testsuite><testcase classname='com.x.FooTest' name='bar'/></testsuite>") == {
        "com.x.FooTest::bar": "passed"
    }


@example_count(80)
@given(
    st.one_of(
        st.binary(),
        st.text().map(
            lambda text: f"<testsuite><testcase name='a'>{text}</testcase></testsuite>".encode("utf-8", "replace")
        ),
    )
)
def test_no_bytes_raise(xml: bytes):
    found = parse_junit(xml)

    assert found is None or isinstance(found, dict)


def test_worse_is_a_maximum():
    assert worse("passed", "error") == worse("error", "failed") == "error"
    assert worse("skipped", "passed") == "skipped"
