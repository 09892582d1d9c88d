"""What do the sums over all runs of a workspace say?"""

import json
from pathlib import Path
from typing import Any

from support.loop import CHECK, DONE, FIX, Agent, edit, kotef
from support.openai_server import call, calls

from kotef.runs.store import runs_dir

ARGUMENTS = ("make add right", "--check", CHECK)


def stats(root: Path, *arguments: str) -> dict[str, Any]:
    done = kotef(root, "stats", "--json", *arguments)
    assert done.code == 0
    return json.loads(done.stdout)


def test_runs_failures_and_tools_are_counted(project: Path, run: Any) -> None:
    missed = edit("calc.py", "no such line", "x")
    first = [missed, edit("calc.py", "a - b", "a * b"), DONE, edit("calc.py", "a * b", "a + b"), DONE]
    assert run(project, Agent(first), *ARGUMENTS).code == 0
    (project / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    worse = [calls(call("run_command", command="exit 3")), edit("calc.py", "a - b", "a * b"), DONE]
    assert run(project, Agent(worse), *ARGUMENTS, "--max-attempts", "1").code == 3
    found = stats(project)
    assert found["runs"] == 2
    assert found["outcomes"] == {"bounded_attempts_exceeded": 1, "verified": 1}
    assert found["attemptsToGreen"] == {"2": 1}
    ((kind, count),) = found["failures"].items()
    assert kind.startswith("test_failure")
    assert count == 2, "one failed check in each run; those of the baselines are nobody's"
    assert found["nodes"]["verifier"] == {"red": 2}
    (model,) = found["models"]
    assert (model["model"], model["runs"], model["verified"]) == ("scripted", 2, 1)
    assert model["toolFailures"] == 2
    assert model["tokens"] == found["spent"]["tokensIn"] + found["spent"]["tokensOut"] > 0
    tools = {
        (row["tool"], row["category"]): (row["beforeCompaction"], row["afterCompaction"]) for row in found["tools"]
    }
    assert tools == {("edit_file", "edit_mismatch"): (1, 0), ("run_command", "tool_error"): (1, 0)}
    assert found["unreadable"] == {}
    shown = kotef(project, "stats").stdout
    assert "2 runs" in shown
    assert "edit_file: edit_mismatch" in shown


def test_a_failure_after_a_compaction_is_told_apart(project: Path) -> None:
    place = runs_dir(project) / "20260101-101010-aaaa"
    failed = {"event": "tool_finished", "visit": 1, "tool": "edit_file", "ok": False, "category": "edit_mismatch"}
    lines = [failed, {"event": "compacted", "visit": 1}, failed, failed, {**failed, "visit": 2}]
    place.mkdir(parents=True)
    (place / "events.jsonl").write_text("".join(json.dumps({"n": n, **line}) + "\n" for n, line in enumerate(lines, 1)))
    found = stats(project)
    assert found["outcomes"] == {"unfinished": 1}
    assert [(row["beforeCompaction"], row["afterCompaction"]) for row in found["tools"]] == [(2, 2)]
    assert found["compactions"] == 1


def test_events_of_an_earlier_kotef_are_read_as_far_as_they_go(project: Path) -> None:
    place = runs_dir(project) / "20260101-101010-aaaa"
    place.mkdir(parents=True)
    old = [
        {"n": 1, "event": "tool_finished", "visit": 1, "tool": "grep", "ok": False},
        {"n": 2, "event": "model_answer"},
    ]
    (place / "events.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in old))
    found = stats(project)
    assert found["tools"][0]["category"] == "unknown"
    assert found["models"][0]["calls"] == 1


def test_a_foreign_event_costs_itself_and_not_the_sums_of_all_runs(project: Path) -> None:
    place = runs_dir(project) / "20260101-101010-aaaa"
    place.mkdir(parents=True)
    answer = {"event": "model_answer", "tokens_in": 10, "tokens_out": 5, "cost": 0.5}
    lines = [
        {"event": "run_started", "model": "one"},
        {**answer, "tokens_in": None},
        {**answer, "cost": "free"},
        answer,
    ]
    lines += [{"event": "coder_finished", "stopped_by": ["?"]}, {"event": ["model_answer"]}]
    (place / "events.jsonl").write_text("".join(json.dumps({"n": n, **line}) + "\n" for n, line in enumerate(lines, 1)))
    (model,) = stats(project)["models"]
    assert (model["calls"], model["tokens"], model["cost"]) == (1, 15, 0.5)


def test_answers_count_for_the_model_that_gave_them(project: Path) -> None:
    place = runs_dir(project) / "20260101-101010-aaaa"
    place.mkdir(parents=True)
    answer = {"event": "model_answer", "visit": 1, "tokens_in": 10, "tokens_out": 5, "cost": 0.5}
    lines = [{"event": "run_started", "model": "one"}, answer, {**answer, "model": "two"}]
    (place / "events.jsonl").write_text("".join(json.dumps({"n": n, **line}) + "\n" for n, line in enumerate(lines, 1)))
    models = {model["model"]: (model["runs"], model["tokens"], model["cost"]) for model in stats(project)["models"]}
    assert models == {"one": (1, 15, 0.5), "two": (0, 15, 0.5)}


def test_a_run_that_cannot_be_read_is_named_and_in_no_figure(project: Path, run: Any) -> None:
    done = run(project, Agent([FIX, DONE]), *ARGUMENTS)
    (done.run_dir / "result.json").write_text('{"schema_version": 99}')
    found = stats(project)
    assert found["runs"] == 0
    assert list(found["unreadable"]) == [done.run_dir.name]
    assert f"note: run {done.run_dir.name} is not included" in kotef(project, "stats").stdout


def test_only_runs_of_the_last_days_are_counted_where_that_is_asked_for(project: Path, run: Any) -> None:
    run(project, Agent([FIX, DONE]), *ARGUMENTS)
    old = runs_dir(project) / "20200101-101010-aaaa"
    old.mkdir()
    (old / "events.jsonl").write_text('{"n": 1, "event": "run_started", "model": "m"}\n')
    assert stats(project)["runs"] == 2
    assert stats(project, "--since", "1")["runs"] == 1


def test_a_workspace_without_a_run_says_so(project: Path) -> None:
    assert "no runs here yet" in kotef(project, "stats").stdout
    assert stats(project)["runs"] == 0
