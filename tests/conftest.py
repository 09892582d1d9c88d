"""Every test has a home, a state directory and a git identity of its own; nothing of the machine leaks in."""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"  # before the first langgraph import, which reads it once
sys.path.insert(0, str(Path(__file__).parent))

# A shell that starts the tests in the background has SIGINT ignored; what they start has to hear it all the same.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says something about the machine, nothing about the product.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

DROPPED = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "KOTEF_MODEL",
    "KOTEF_PLANNER_MODEL",
    "KOTEF_TOOLS",
    "CI",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
    "NO_COLOR",
    "TRACEPARENT",
)
ELSEWHERE = ("GIT_", "GITHUB_", "PYTEST_ADDOPTS", "OTEL_", "LANGSMITH_", "LANGCHAIN_")


@pytest.fixture(autouse=True)
def _alone(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name in DROPPED or name.startswith(ELSEWHERE)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "gitconfig"))
    (home / "gitconfig").write_text("[user]\n\tname = Test\n\temail = test@localhost\n[init]\n\tdefaultBranch = main\n")
    monkeypatch.setenv(
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1"
    )  # what the machine has installed costs each check a second
    monkeypatch.setenv("KOTEF_PROBES", "off")  # each costs a run of the tests, and has tests of its own
    monkeypatch.setenv("KOTEF_SANDBOX", "off")  # what is confined has tests of its own, at each level
    monkeypatch.setenv("PATH", os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
