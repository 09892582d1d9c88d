"""Whatever becomes of kotef's own state while a run is at work, the run ends with its result, its report and its entry."""

import json
import os
from pathlib import Path

import pytest
from support.loop import CHECK, DONE, Agent
from support.openai_server import call, calls


@pytest.mark.examples(2)
@pytest.mark.parametrize("lost", ["", "store.git", "store.git/objects"])
def test_a_run_whose_state_is_deleted_ends_with_a_result_a_report_and_one_entry(project: Path, run, lost: str) -> None:
    places = f"{os.environ['XDG_STATE_HOME']}/kotef/*/{lost}"
    deleting = calls(call("run_command", command=f"rm -rf {places}"))

    ran = run(project, Agent(coder=[deleting, DONE]), "make add add", "--check", CHECK)

    result = json.loads((ran.run_dir / "result.json").read_text())
    assert (ran.code, result["outcome"], result["reason"]) == (5, "environment_broken", "workspace")
    assert (ran.run_dir / "report.md").exists()
    assert [entry["run_id"] for entry in ran.issues] == [ran.run_dir.name]
    assert "the snapshots of this run are lost" in " ".join(result["notices"])


def test_a_persons_own_specification_is_there_again_after_a_command_deleted_sdd(project: Path, run) -> None:
    own = project / ".sdd" / "project.md"
    own.parent.mkdir(exist_ok=True)
    own.write_text("# Ours\n")

    deleting = calls(call("run_command", command="rm -rf .sdd"))
    run(project, Agent(coder=[deleting, DONE] * 3), "make add add", "--check", CHECK)

    assert own.exists()
    assert own.read_text() == "# Ours\n"
