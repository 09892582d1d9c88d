"""The project's test suite, collected once and run many times."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from typing import Any, Callable, List, Tuple

import pytest

from kotef.repair.worker import restrictions

Verdict = Tuple[str, float, Any]
"""`passed`, `failed`, `skipped`; seconds of CPU time; the exception, None unless it failed."""


class Suite:
    """The collected tests, by index; runs them without making reports."""

    def __init__(self, session: pytest.Session, errors: list[list[str]]) -> None:
        self.items: list[pytest.Item] = session.items
        self.errors = errors
        """Node id and last lines of what could not be collected."""
        self._outcome: Verdict = ("failed", 0.0, None)
        self._reported = False
        self._in_subtest: BaseException | None = None
        session.config.pluginmanager.register(self, "kotef-quick")

    def run(self, index: int, following: int | None) -> Verdict:
        """Run one test; fixtures that `following` shares stay up."""
        item = self.items[index]
        after = None if following is None else self.items[following]
        _tear_down_others(item)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        return self._outcome

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """In place of pytest's own: warnings filters and other wrappers of this hook still apply."""
        _no_explanations()
        self._reported, self._in_subtest = False, None
        start = time.process_time()
        tested = getattr(item, "obj", None)
        xfail = item.get_closest_marker("xfail") is not None or hasattr(tested, "__unittest_expecting_failure__")
        state, error = self._reports(item, nextitem) if xfail else _phases(item, nextitem)
        if self._reported and state in ("passed", "failed"):
            state, error = "failed", self._in_subtest or error
        self._outcome = (state, time.process_time() - start, error)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[Any]) -> None:
        """Keep what the first failing subtest raised: the test itself continues."""
        if call.excinfo is not None and self._in_subtest is None:
            self._in_subtest = call.excinfo.value

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Subtests report their failures by themselves."""
        self._reported = self._reported or report.failed

    def _reports(self, item: pytest.Item, nextitem: pytest.Item | None) -> tuple[str, BaseException | None]:
        """With the reports, which alone know of `xfail`."""
        from _pytest.runner import runtestprotocol

        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        states = {report.outcome for report in reports}
        return next((state for state in ("failed", "skipped") if state in states), "passed"), None


def _tear_down_others(item: pytest.Item) -> None:
    """Take down what an earlier test left up for one that was not run after all: its class, its module.

    pytest refuses to set up a test while nodes that are none of its parents stand.
    """
    state: Any = getattr(item.session, "_setupstate", None)
    try:
        if hasattr(state, "prepare"):  # before pytest 7
            state._teardown_towards(item.listchain())
        elif state is not None:
            state.teardown_exact(item)
    except Exception:  # noqa: S110 - a teardown of the project, which may raise anything; it belongs to another test
        pass


def _no_explanations() -> None:
    """What a failed assertion says is not read here; without it, no code of the project runs because a test failed."""
    from _pytest import nodes
    from _pytest.assertion import rewrite, util

    rewriter: Any = rewrite
    rewriter._saferepr = _no_text
    util._reprcompare = None
    node: Any = nodes.Node
    node._repr_failure_py = _no_text  # of a failed subtest pytest makes a report, which parses whole files


def _no_text(*_values: object, **_options: object) -> str:
    return "?"


def _phases(item: pytest.Item, nextitem: pytest.Item | None) -> tuple[str, BaseException | None]:
    error: BaseException | None = None
    if kept := getattr(item, "_excinfo", None):
        kept.clear()  # a unittest case keeps its failures: those of an earlier run would make this one fail
    has_request = hasattr(item, "_request")
    if has_request and not getattr(item, "_request", None):
        item._initrequest()  # type: ignore[attr-defined]  # what the real protocol does for a second run
    try:
        item.ihook.pytest_runtest_setup(item=item)
        _report_passed(item, "setup")
        item.ihook.pytest_runtest_call(item=item)
        held = getattr(item, "_excinfo", None)  # where a unittest case keeps its failures
        error = held[0].value if held else None
        if error is None:
            _report_passed(item, "call")
    except BaseException as raised:  # a test may raise anything, SystemExit included
        error = raised
    try:
        item.ihook.pytest_runtest_teardown(item=item, nextitem=nextitem)
    except BaseException as raised:
        error = error or raised
    if has_request:
        item._request = False  # type: ignore[attr-defined]
        item.funcargs = None  # type: ignore[attr-defined]
    if error is None:
        return "passed", None
    return ("skipped" if isinstance(error, (pytest.skip.Exception, _unittest_skip())) else "failed"), error


def _report_passed(item: pytest.Item, when: Any) -> None:
    """Fixtures such as `tmp_path` learn from the report of a phase how it went; a failing one is not worth a report."""
    from _pytest.runner import CallInfo  # `pytest.CallInfo` exists from version 7 on

    call: Any = CallInfo.from_call(lambda: None, when)
    report = item.ihook.pytest_runtest_makereport(item=item, call=call)
    if report.failed:
        raise AssertionError("a plugin calls it failed")


def _unittest_skip() -> type[BaseException]:
    from unittest import SkipTest

    return SkipTest


class CollectionPlugin:
    """The plugin that takes over when pytest would run the tests."""

    def __init__(self, serve: Callable[[Suite], None]) -> None:
        self._serve = serve
        self._errors: list[list[str]] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what could not be collected."""
        if report.failed:
            self._errors.append([report.nodeid, str(report.longrepr)[-600:]])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Serve instead of running; never comes back while there is someone to serve."""
        self._serve(Suite(session, self._errors))
        return True


def collect(arguments: List[str], serve: Callable[[Suite], None]) -> int:
    """Have pytest collect, then call `serve`; the exit status says why that did not happen."""
    quiet = [
        "-s",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "-p",
        "no:faulthandler",
        "--continue-on-collection-errors",
    ]
    for module, options in (
        ("xdist", ["-n0"]),
        ("pytest_cov", ["--no-cov"]),
        ("pytest_timeout", ["--timeout=0"]),
    ):
        if importlib.util.find_spec(module) is not None and not os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
            quiet += options
    sys.stdout.flush()
    return int(pytest.main([*arguments, *quiet], plugins=[CollectionPlugin(serve)]))


def place_of(error: BaseException | None, relative: Callable[[str], str]) -> list[list[Any]]:
    """The traceback's frames inside the workspace, outermost first: path and line, at most 40."""
    frames: list[list[Any]] = []
    step = error.__traceback__ if error is not None else None
    while step is not None:
        path = relative(step.tb_frame.f_code.co_filename)
        if path:
            frames.append([path, step.tb_lineno])
        step = step.tb_next
    return frames if len(frames) <= 40 else frames[:20] + frames[-20:]


def timed(suite: Suite, index: int, following: int | None, cpu: float) -> Verdict:
    """Run one test with a timer of its own; the process ends when it is over."""
    restrictions.allow(cpu)
    verdict = suite.run(index, following)
    restrictions.allow(0)
    return verdict
