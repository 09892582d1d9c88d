import os
import signal
import subprocess
import sys
from pathlib import Path

from kotef.context.prompts import Prompts
from kotef.deps import Emit, Models
from kotef.runs import store
from kotef.runs.events import read_events
from kotef.runs.prepare import prepare
from kotef.runs.run_config import RunConfig
from kotef.runs.run_request import RunRequest
from kotef.runs.start import resume, start


def test_a_run_begins_before_any_framework_is_imported() -> None:
    """All up to the baseline is there without them; they are imported while its commands run."""
    said = (
        "import sys, kotef.cli.run_launch; "
        "print([name for name in ('langgraph', 'langchain_core', 'openai', 'aiosqlite') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_signal_while_the_frameworks_are_imported_interrupts_the_run(tmp_path: Path) -> None:
    def models(_: Emit) -> Models:
        os.kill(os.getpid(), signal.SIGINT)
        return Models()

    root = tmp_path / "project"
    root.mkdir()
    (root / "a.txt").write_text("a\n")
    run = store.new(root)
    request = RunRequest(goal="nothing", checks=("sleep 20 && touch slept",))
    task = prepare(request, root).task.model_copy(update={"run_id": run.run_id, "coder": "fixers"})
    result = start(RunConfig(run, task, root, models, Prompts()))
    assert (result.outcome, result.reason) == ("interrupted", "SIGINT")
    assert not (root / "slept").exists()
    assert next(read_events(run.events)).event.event_name == "run_started"
    quick = task.model_copy(update={"checks": (task.checks[0].model_copy(update={"command": "true"}),)})
    assert resume(RunConfig(run, quick, root, lambda _: Models(), Prompts())).outcome != "interrupted"
