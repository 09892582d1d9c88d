"""Every test has a home, a state directory and a git identity of its own; nothing of the machine leaks in."""

import compileall
import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"  # before the first langgraph import, which reads it once
sys.path.insert(0, str(Path(__file__).parent))

from support.isolation import isolate

# Hundreds of processes are started: each would compile everything again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell that starts the tests in the background has SIGINT ignored; what they start has to hear it all the same.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A landing makes few, for each commit pays for them; `@example_count(n)` is a share of the number.
# How long an example takes says something about the machine, nothing about the product. The same examples each time, so
# that a landing that failed fails again where it is looked for; new ones are for `--hypothesis-profile thorough`.
settings.register_profile(
    "any machine", max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("any machine"), max_examples=1000, derandomize=False)
settings.load_profile("any machine")

PACKAGE = Path(__file__).parent.parent / "kotef"


@pytest.hookimpl(tryfirst=True)  # before xdist chooses
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Prepare workers: what all of them load is compiled once, and they take tests from each other.

    Otherwise one of them would be left with the longest tests for minutes.
    """
    if not getattr(config.option, "numprocesses", None):
        return
    if config.option.dist == "no":
        config.option.dist = "worksteal"
    if not (PACKAGE / "repair" / "__pycache__").exists():  # a fresh clone
        compileall.compile_dir(PACKAGE, quiet=2, workers=0)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores: many tests wait for processes, clocks and sockets."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)  # before the markers of the command line are looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the marker `matrix` what a test has beyond its examples: `examples(2)` keeps the first two cases."""
    seen: Counter[str] = Counter()
    for item in items:
        elsewhere = item.get_closest_marker("kill") or item.get_closest_marker("hostile")
        kept = item.get_closest_marker("examples")
        if kept and not elsewhere:
            name, _, _ = item.nodeid.partition("[")
            seen[name] += 1
            if seen[name] > kept.args[0]:
                item.add_marker("matrix")


def pytest_collection_finish() -> None:
    """Leave what was collected to itself: the garbage collector would look through thousands of tests in each run."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Numbered places below one folder: `mktemp` would look through thousands of names for the next number."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def _alone(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    home = next(_homes)
    home.mkdir()
    isolate(home, monkeypatch)
