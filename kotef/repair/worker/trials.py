"""Trials that run in a child process, and their results."""

from __future__ import annotations

import builtins
import signal
import sys
import time
from typing import Any, Callable

from kotef.repair.worker import hot_swap, raise_counts, restrictions, suite, tracing

_SAW = "__kotef_saw__"
_ENDLESS = "it does not finish"
_ANY_TEST = 0.001
"""CPU seconds of a test that does next to nothing."""
_WAITING = 3
"""Wall seconds for each CPU second of a deadline: the machine may be busy."""
Tell = Callable[[Any], None]


class Trials:
    """Makes the body of each request; remembers which tests end most candidates, and what each test takes."""

    def __init__(self, tests: suite.Suite, swapper: hot_swap.Swapper, guard: restrictions.Restrictions) -> None:
        self._tests = tests
        self._swapper = swapper
        self._guard = guard
        self._kills: dict[int, int] = {}
        self._seconds: dict[int, float] = {}

    def body(self, request: dict[str, Any]) -> Callable[[Tell], None]:
        """The function that answers a request, to be called in a child."""
        do: dict[str, Callable[[dict[str, Any], Tell], None]] = {
            "measure": self._measure,
            "watch": self._watch,
            "screen": self._screen,
            "try": self._try,
            "probe": self._probe,
            "raised": self._raised,
        }
        return lambda tell: do[request["do"]](request, tell)

    def learn(self, words: list[Any]) -> None:
        """Count which tests end candidates, which go first next time, and keep the CPU seconds of each test."""
        for word in words:
            if word[0] == "failed":
                self._kills[word[2]] = self._kills.get(word[2], 0) + 1
            elif word[0] == "test":
                self._seconds[word[1]] = word[3]

    def _measure(self, request: dict[str, Any], tell: Tell) -> None:
        """Run tests in their order, telling of each how it ended, its CPU seconds, and its exception."""
        indices = request["tests"]
        for index, following in zip(indices, [*indices[1:], None]):
            tell(["begin", index])
            wall = time.monotonic()
            self._guard.refused, before = "", self._guard.programs
            state, seconds, error = suite.timed(self._tests, index, following, request["each"])
            frames = suite.place_of(error, self._swapper.relative)
            failure = [type(error).__name__, str(error)[:300]] if error is not None else []
            wall = time.monotonic() - wall
            starts = self._guard.programs > before
            tell(["test", index, state, seconds, wall, failure, frames, self._guard.refused, starts])

    def _watch(self, request: dict[str, Any], tell: Tell) -> None:
        """Run tests, telling of each the lines it ran, each at once if asked for; then types and arguments."""
        watcher = tracing.watcher(self._swapper.relative, set(request["files"]))
        indices = request["tests"]

        def report() -> None:
            types = {
                key: {name: sorted(kinds) for name, kinds in found.items()} for key, found in watcher.types.items()
            }
            tell(["values", types, watcher.calls])

        for index, following in zip(indices, [*indices[1:], None]):
            tell(["begin", index])
            if request["at_once"]:
                watcher.on_line = lambda path, line, index=index: tell(["line", index, path, line])
            deadline = _Deadline(request["each"])
            watcher.start()
            with deadline:
                self._tests.run(index, following)
            watcher.stop()
            tell(["lines", index, watcher.forget_lines(), deadline.over])
            if request["values"] and (deadline.over or following is None):
                report()
            if deadline.over:  # what it left behind is not known
                return

    def _screen(self, request: dict[str, Any], tell: Tell) -> None:
        """Run the failing tests on one candidate after the other, each undone before the next.

        A process of its own for each would be cleaner and several times slower, so: the round ends where a candidate
        passes (it is then tried alone) or leaves traces, and at its end a test that passes without any edit must pass.
        """
        if request["control"] is not None:
            self._tests.run(request["control"], None)  # what a first run costs shall not count against a candidate
        unsettled = self._unsettled(request)
        before = self._swapper.traces(request["modules"])
        limit = restrictions.SoftLimit()
        for number, units in enumerate(request["candidates"]):
            tell(["begin", number])
            limit.allow(request["each"])
            fixed = in_time = False
            try:
                with self._swapper.applied(units):
                    fixed, in_time = self._failing_pass(number, request, tell), True
            except (SyntaxError, ValueError, hot_swap.NotSwappableError) as error:
                tell(["invalid", number, str(error)[:120]])
                continue
            except restrictions.TimeIsUpError:
                tell(["time", number])
            limit.allow(0)
            tell(["end", number])
            clean = in_time or self._control_passes(request)
            if fixed or not clean or self._changed(before, request) - unsettled:
                tell(["stop", number])
                return
        tell(["begin", len(request["candidates"])])
        limit.allow(request["cpu_all"])
        tell(["control", self._control_passes(request)])

    def _unsettled(self, request: dict[str, Any]) -> set[Any]:
        """State of the modules that changes whenever failing tests run, such as a cache: no candidate's trace."""
        before = self._swapper.traces(request["modules"])
        ending = [test for test in self._in_turn(request["failing"]) if test in self._seconds]
        for test in ending[: request["blind"]]:
            self._tests.run(test, None)
        return self._changed(before, request)

    def _changed(self, before: dict[Any, Any], request: dict[str, Any]) -> set[Any]:
        after = self._swapper.traces(request["modules"])
        return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}

    def _control_passes(self, request: dict[str, Any]) -> bool:
        control = request["control"]
        return control is None or self._tests.run(control, None)[0] == "passed"

    def _failing_pass(self, number: int, request: dict[str, Any], tell: Tell) -> bool:
        """Whether all failing tests pass.

        If `blind` tests fail and none passes, that is enough; otherwise `looks` tests say what an edit fixes.
        """
        order = self._in_turn(request["failing"])
        right = 0
        for place, (index, following) in enumerate(zip(order, [*order[1:], None])):
            right += self._one(number, index, following, tell)
            looked = place + 1
            if right < looked and ((not right and looked >= request["blind"]) or looked >= request["looks"]):
                return False
        return right == len(order)

    def _try(self, request: dict[str, Any], tell: Tell) -> None:
        """Apply one candidate for good and run the failing tests, then the others until one fails."""
        try:
            for unit in request["units"]:
                self._swapper.apply(unit)
        except (SyntaxError, ValueError, hot_swap.NotSwappableError) as error:
            tell(["invalid", 0, str(error)[:120]])
            return
        restrictions.allow(request["each"])
        if not self._failing_pass(0, request, tell):
            return
        tell(["fixed"])
        restrictions.allow(request["cpu_all"])
        others = self._in_order(request["others"])
        if all(self._one(0, *pair, tell) for pair in zip(others, [*others[1:], None])):
            tell(["plausible"])

    def _one(self, number: int, index: int, following: int | None, tell: Tell) -> bool:
        state, _, error = self._tests.run(index, following)
        if isinstance(error, restrictions.TimeIsUpError):
            raise error
        if state == "passed":
            tell(["passed", number, index])
            return True
        tell(["failed", number, index, self._line_of(index, error)])
        return False

    def _line_of(self, index: int, error: BaseException | None) -> int:
        """The last line of the test's own file on the way to its failure, 0 if it is not known."""
        item = self._tests.items[index]
        file = self._swapper.relative(str(getattr(item, "path", None) or item.fspath))
        lines = [line for path, line in suite.place_of(error, self._swapper.relative) if path == file]
        return int(lines[0]) if lines else 0

    def _in_turn(self, failing: list[int]) -> list[int]:
        """A hard one goes first, then easy ones, each time one that takes little time."""
        hardest = max(failing, key=lambda test: (1 + self._kills.get(test, 0)) / self._effort(test))
        others = [test for test in failing if test != hardest]
        return [hardest, *sorted(others, key=lambda test: (1 + self._kills.get(test, 0)) * self._effort(test))]

    def _effort(self, test: int) -> float:
        """Its CPU seconds, with what running any test takes."""
        return self._seconds.get(test, 0.0) + _ANY_TEST

    def _in_order(self, indices: list[int]) -> list[int]:
        return sorted(indices, key=lambda index: -self._kills.get(index, 0))

    def _probe(self, request: dict[str, Any], tell: Tell) -> None:
        """Apply a candidate, then call functions with given arguments, and run variants of tests; says all results."""
        for unit in request["units"]:
            self._swapper.apply(unit)
        for which, call in enumerate(request["functions"]):
            function = self._swapper.function(call["path"], call["name"], call["line"])
            for number, literal in enumerate(call["arguments"] if function is not None else ()):
                deadline = _Deadline(request["each"])
                result = ""
                with deadline:
                    result = _result(function, literal)
                tell(["result", which, number, _ENDLESS if deadline.over else result])
        for number, variant in enumerate(request["variants"]):
            tell(["saw", number, self._seen(variant, request["each"])])

    def _raised(self, request: dict[str, Any], tell: Tell) -> None:
        """Apply a candidate and run tests, telling of each how often a statement ran, and how often it raised."""
        for unit in request["units"]:
            self._swapper.apply(unit)
        indices = request["tests"]
        for index, following in zip(indices, [*indices[1:], None]):
            with raise_counts.Raised(
                self._swapper.relative, request["path"], request["first"], request["last"]
            ) as seen:
                self._tests.run(index, following)
            tell(["raised", seen.ran, seen.raised])

    def _seen(self, variant: dict[str, Any], each: float) -> list[list[str]]:
        """Question and answer, for each that the variant came to; how it ended is the last."""
        answers: list[list[str]] = []
        setattr(builtins, _SAW, lambda asked, value: answers.append([asked, _outcome(value)]))
        deadline = _Deadline(each)
        state, error = "", None
        with self._swapper.applied([variant["unit"]]), deadline:
            state, _, error = self._tests.run(variant["test"], None)
        if deadline.over or isinstance(error, restrictions.TimeIsUpError):
            return [*answers, ["", _ENDLESS]]
        return [*answers, ["", f"raises {type(error).__name__}" if error is not None else state]]


def _result(function: Any, literal: str) -> str:
    """What a call does, as text: the value, or the exception; empty for a value without a literal."""
    arguments = eval(literal, {"__builtins__": {"float": float, "set": set, "frozenset": frozenset}})
    receiver = _receiver(function, arguments.get("self"))
    try:
        value = function(**{**arguments, "self": receiver} if receiver is not None else arguments)
        if hasattr(value, "__next__"):
            value = [item for item, _ in zip(value, range(200))]
    except Exception as error:
        return f"raises {type(error).__name__}"
    if receiver is not None:
        arguments["self"] = dict(vars(receiver))
    changed = tracing.literal_of(arguments)
    text = tracing.literal_of(value)
    return text if changed == literal or not text else f"{text} with arguments left as {changed}"


def _outcome(value: Callable[[], Any]) -> str:
    try:
        return _shape(value()) or "?"
    except Exception as error:
        return f"raises {type(error).__name__}"


def _shape(value: Any) -> str:
    """The value's literal; of an object, its class and attributes as far as they have one."""
    text = tracing.literal_of(value)
    if text or not hasattr(value, "__dict__") or isinstance(value, type):
        return text
    return f"{type(value).__name__}({tracing.literal_of(vars(value))})"


def _receiver(function: Any, attributes: Any) -> Any:
    """An object of the class a method stands in, with these attributes; None for a plain function."""
    owner: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split(".")[:-1]:
        owner = getattr(owner, name, None)
    if not isinstance(owner, type) or not isinstance(attributes, dict):
        return None
    receiver: Any = object.__new__(owner)
    vars(receiver).update(attributes)
    return receiver


class _Deadline:
    """Ends its block after some seconds of CPU time, or a few times as many of wall time if it waits for something.

    Should the block resist, the child's own timer ends the child.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.over = False

    def __enter__(self) -> None:
        signal.signal(signal.SIGVTALRM, self._ring)
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_VIRTUAL, self._seconds)
        signal.setitimer(signal.ITIMER_REAL, _WAITING * self._seconds)

    def _ring(self, _number: int, _frame: Any) -> None:
        self.over = True
        raise restrictions.TimeIsUpError

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        return kind is not None and issubclass(kind, restrictions.TimeIsUpError)
