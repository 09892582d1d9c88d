"""Does a program give the same results as its reference on random inputs?

Run as `python same_results.py PROBLEM CANDIDATE [SAMPLES]`; prints one line of JSON: `differs` is null, or holds the
first arguments the two disagree on and both outcomes. The process limits itself, for candidates may loop or grow.
"""

import copy
import importlib.util
import json
import math
import random
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

SAMPLES = 200
CALL_SECONDS = 1.0
"""CPU seconds of one call; the programs need milliseconds."""
ALL_SECONDS = 20
"""CPU seconds of the whole comparison."""
MEMORY = 1 << 30
"""Bytes of address space."""
LONGEST = 1000
"""Items taken of an iterator that may have no end."""


class TooSlowError(BaseException):
    """One call used its time; no Exception, so that a program's own handlers let it pass."""


def main() -> None:
    """Compare, and print the answer."""
    resource.setrlimit(resource.RLIMIT_CPU, (ALL_SECONDS, ALL_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGVTALRM, too_slow)
    problem, candidate = Path(sys.argv[1]), Path(sys.argv[2])
    samples = int(sys.argv[3]) if len(sys.argv) > 3 else SAMPLES
    print(json.dumps({"differs": first_difference(problem, candidate, samples)}))


def first_difference(problem: Path, candidate: Path, samples: int) -> dict[str, str] | None:
    """The first arguments that are answered differently, by `repr`; None if all samples agree."""
    inputs = load(problem / "inputs.py", "inputs")
    expected = callee(inputs, load(problem / "reference.py", "program"))
    rng = random.Random(problem.name)
    try:
        offered = callee(inputs, load(candidate, "program"))
    except (Exception, TooSlowError) as error:  # noqa: BLE001 - whatever a candidate does on import is its answer
        return {"arguments": "import", "expected": "a module", "got": type(error).__name__}
    for _ in range(samples):
        arguments = inputs.generate(rng)
        right, got = outcome(expected, arguments), outcome(offered, arguments)
        if right != got:
            return {"arguments": shown(arguments), "expected": shown(right), "got": shown(got)}
    return None


def load(path: Path, name: str) -> ModuleType:
    """A module of its own, also for the second file of one name."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    signal.setitimer(signal.ITIMER_VIRTUAL, CALL_SECONDS)
    try:
        spec.loader.exec_module(module)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return module


def callee(inputs: ModuleType, program: ModuleType) -> Callable[..., Any]:
    """What the arguments are for: the named function, or the driver of the inputs with the program."""
    if hasattr(inputs, "drive"):
        return lambda *arguments: inputs.drive(program, *arguments)
    function: Callable[..., Any] = getattr(program, inputs.FUNCTION)
    return function


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, Any]:
    """The result and what became of the arguments, or the type of the error."""
    given = copy.deepcopy(arguments)
    signal.setitimer(signal.ITIMER_VIRTUAL, CALL_SECONDS)
    try:
        return "returned", (plain(function(*given)), plain(given))
    except TooSlowError:
        return "too slow", None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the type of the error is the outcome that is compared
        return "raised", type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def plain(value: Any) -> Any:
    """The value such that `==` compares what a caller sees: iterators run, floats of nine digits."""
    match value:
        case float() if math.isfinite(value):
            return float(f"{value:.9g}")
        case list() | tuple():
            return type(value)(plain(item) for item in value)
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case Iterator():
            return [plain(item) for item in islice(value, LONGEST)]
        case _:
            return value


def shown(value: Any) -> str:
    """The value on one line of bounded length."""
    return repr(value)[:300]


def too_slow(_signal: int, _frame: FrameType | None) -> None:
    """End the call that is running."""
    raise TooSlowError


if __name__ == "__main__":
    main()
