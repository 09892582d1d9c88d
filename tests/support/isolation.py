"""The environment that each test has to itself: a home, a state directory, a git identity, nothing of the machine."""

import os
import sys
from pathlib import Path

import pytest

from kotef.sandbox import environment

DROPPED = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "KOTEF_MODEL",
    "KOTEF_PLANNER_MODEL",
    "KOTEF_TOOLS",
    "KOTEF_EXTENSIONS",
    "KOTEF_DISABLE_EXTENSIONS",
    "CI",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
    "NO_COLOR",
    "TRACEPARENT",
)
ELSEWHERE = ("GIT_", "GITHUB_", "PYTEST_ADDOPTS", "OTEL_", "LANGSMITH_", "LANGCHAIN_")


GO_CACHE = os.environ.get("GOCACHE", str(Path.home() / ".cache" / "go-build"))
"""The machine's own: in an empty home the standard library of Go is compiled again for each test."""
GIT_CONFIG = """\
[user]
\tname = Test
\temail = test@localhost
[init]
\tdefaultBranch = main
[maintenance]
\tauto = false
[gc]
\tauto = 0
"""
"""Without the housekeeping that each commit looks for."""


def load_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pytest load the plugins that are installed: for projects that need theirs."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    monkeypatch.delitem(environment._FIXED, "PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)


def isolate(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `home` the home of what follows, until the patches are undone."""
    for name in [name for name in os.environ if name in DROPPED or name.startswith(ELSEWHERE)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "gitconfig"))
    (home / "gitconfig").write_text(GIT_CONFIG)
    monkeypatch.setenv("GOCACHE", GO_CACHE)
    monkeypatch.setattr(os, "fsync", lambda file: None)  # no test cuts the power, and each run waits for a hundred
    # what the machine has installed costs each check a second
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setitem(environment._FIXED, "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # of the checks' environment, too
    monkeypatch.setenv("KOTEF_PROBES", "off")  # each costs a run of the tests, and has tests of its own
    monkeypatch.setenv("KOTEF_SANDBOX", "off")  # what is confined has tests of its own, at each level
    monkeypatch.setenv("PATH", os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
