"""The tools in whole runs: what they do, what they leave alone, and what is offered at all."""

import os
import re
import signal
import time
from pathlib import Path

import pytest
from support.loop import BUG, CHECK, DONE, FIX, FIXED, Agent, Ran, kotef, text
from support.openai_server import Call, OpenAIServer, Reply, Request, call, calls
from support.process import kotef_process

GOAL = "make add add"
ONCE = ("--check", CHECK, "--max-attempts", "1")
PATCH = """\
*** Begin Patch
*** Add File: notes.txt
+why
*** Update File: calc.py
@@ def add(a, b):
-    return a - b
+    return a + b
*** Update File: old.txt
*** Move to: new.txt
-old
+new
*** Delete File: gone.txt
*** End Patch"""


def tool(named: str, /, **arguments: object) -> Reply:
    return calls(Call(named, arguments))


LOOK = calls(*(call("view_file", path=path) for path in ("calc.py", "old.txt", "gone.txt")))


def turns(request: Request) -> int:
    """How many answers of the model a request holds."""
    return sum(message["role"] == "assistant" for message in request.messages)


def answers(agent: Agent) -> list[str]:
    """What the coder was told by its tools, as of its last request."""
    return [message["content"] for message in agent.requests("coder")[-1].messages if message["role"] == "tool"]


@pytest.fixture
def patching(project: Path) -> Path:
    """The tiny project, for a model whose settings ask for apply_patch."""
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "kotef" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[models."scripted"]\napply_patch = true\n')
    (project / "old.txt").write_text("old\n")
    (project / "gone.txt").write_text("gone\n")
    return project


def patched(root: Path) -> bool:
    there = {path.name: path.read_text() for path in root.iterdir() if path.suffix in {".py", ".txt"}}
    there.pop("test_calc.py")
    return there == {"calc.py": FIXED, "notes.txt": "why\n", "new.txt": "new\n"}


def test_a_patch_over_four_files_repairs_the_project(patching: Path, run) -> None:
    agent = Agent(coder=[LOOK, tool("apply_patch", patch=PATCH), DONE])
    ran = run(patching, agent, GOAL, *ONCE)
    assert ran.code == 0, ran.stdout
    assert patched(patching)
    assert ran.result["changed"] == ["calc.py", "gone.txt", "new.txt", "notes.txt", "old.txt"]
    assert "apply_patch" in agent.requests("coder")[0].tools
    shown = [event["arguments"] for event in ran.events if event.get("tool") == "apply_patch"]
    assert shown[0] == "notes.txt, calc.py, new.txt, old.txt, gone.txt"


def test_a_patch_with_one_bad_section_changes_nothing_and_the_model_hears_why(patching: Path, run) -> None:
    bad = PATCH.replace("*** Update File: old.txt", "*** Update File: test_calc.py", 1)
    agent = Agent(coder=[LOOK, tool("apply_patch", patch=bad), FIX, DONE])
    ran = run(patching, agent, GOAL, *ONCE)
    assert ran.result["changed"] == ["calc.py"]
    assert "test_calc.py is protected" in answers(agent)[3]
    assert not (patching / "notes.txt").exists()


def test_apply_patch_is_not_offered_unless_asked_for(project: Path, run) -> None:
    agent = Agent(coder=[tool("apply_patch", patch=PATCH), FIX, DONE])
    assert run(project, agent, GOAL, *ONCE).code == 0
    assert "apply_patch" not in agent.requests("coder")[0].tools
    assert "apply_patch is not a valid tool" in answers(agent)[0]


@pytest.mark.examples(1)
@pytest.mark.parametrize("number", [2, 3, *(pytest.param(each, marks=pytest.mark.kill) for each in (1, 4, 5))])
def test_a_kill_between_the_files_of_a_patch_leaves_no_half_of_it(patching: Path, number: int) -> None:
    steps = {0: LOOK, 3: tool("apply_patch", patch=PATCH), 4: DONE}
    agent = Agent(coder=lambda request, _: steps[sum(one["role"] == "tool" for one in request.messages)])
    with OpenAIServer(agent) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted"}
        start = ["run", GOAL, "--coder", "model", *ONCE, "--root", str(patching)]
        killed = kotef_process(start, env, patching.parent, kill_at=f"file:{number}")
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        done = kotef_process(["resume", "--last", "--root", str(patching)], env, patching.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert patched(patching)
    ran = Ran(0, "", "", patching)
    assert not [event for event in ran.events if event["event"] == "in_doubt"], "its files tell how far it came"
    assert ran.result["visits"] == 1
    told = answers(agent)[3].splitlines()
    done = ", ".join(("notes.txt", "calc.py", "new.txt", "old.txt")[:number])
    part = f"{done}: changed before kotef was interrupted, and not changed again. The rest of this edit:"
    whole = "This edit was made before kotef was interrupted; it was not repeated."
    assert (told[0], told[-1]) == ((part, "deleted gone.txt") if number < 5 else (whole, whole))


def test_a_background_command_is_polled_stopped_and_no_loop(project: Path, run) -> None:
    steps = [tool("run_command", command="echo up; while sleep 0.05; do :; done", background=True)]
    steps += [tool("read_output", handle="bg_1_1", wait=0.5), *[tool("read_output", handle="bg_1_1")] * 11]
    steps += [tool("stop_command", handle="bg_1_1"), tool("read_output", handle="bg_1_1"), FIX, DONE]
    agent = Agent(coder=steps)
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0, ran.stdout
    told = answers(agent)
    assert told[0].startswith("bg_1_1: running for ")
    assert "up" in "".join(told)
    assert all("running for" in one for one in told[1:13])
    assert told[13].startswith("bg_1_1: stopped")
    assert told[14].startswith("bg_1_1: stopped")
    assert not [event for event in ran.events if event["event"] in ("repeat", "mistake_recovery")]
    log = ran.run_dir / "logs" / "bg_1_1.log"
    assert log.read_text().startswith("up\n")  # the shell may add that what it waited for was killed


def test_what_still_runs_in_the_background_ends_with_the_visit(project: Path, run) -> None:
    forever = "echo $$ > pid.txt; while sleep 0.05; do echo x >> grown.txt; done"
    agent = Agent(coder=[tool("run_command", command=forever, background=True), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0, ran.stdout
    assert not Path(f"/proc/{(project / 'pid.txt').read_text().strip()}").exists()
    assert "grown.txt" in ran.result["changed"], "what it changed is the coder's"


def test_a_kill_of_kotef_ends_what_runs_in_the_background_and_the_model_is_told(project: Path) -> None:
    forever = "echo $$ > pid.txt; echo up; while sleep 0.05; do :; done"
    steps = [tool("run_command", command=forever, background=True), tool("read_output", handle="bg_1_1")]
    steps += [tool("run_command", command="true", background=True), FIX]
    agent = Agent(coder=lambda request, _: dict(enumerate(steps)).get(turns(request), DONE))
    with OpenAIServer(agent) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted"}
        start = ["run", GOAL, "--coder", "model", *ONCE, "--root", str(project)]
        killed = kotef_process(start, env, project.parent, kill_at="tool_finished:1")
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        pid = Path(f"/proc/{(project / 'pid.txt').read_text().strip()}")
        deadline = time.monotonic() + 10
        while pid.exists() and ") Z " not in (pid / "stat").read_text():
            assert time.monotonic() < deadline, "it outlived kotef"
            time.sleep(0.02)
        done = kotef_process(["resume", "--last", "--root", str(project)], env, project.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    started, read, again, *_ = answers(agent)
    assert started.startswith("bg_1_1: running")
    assert read == ("bg_1_1: ended when kotef was interrupted, or with its visit; start it again if you need it\nup")
    assert again.startswith("bg_1_2: "), "a handle is given once"


def test_a_refused_command_is_refused_in_the_background_too(project: Path, run) -> None:
    agent = Agent(coder=[tool("run_command", command="git push", background=True), FIX, DONE])
    assert run(project, agent, GOAL, *ONCE).code == 0
    assert answers(agent)[0].startswith("not run: `git push` is refused")


def test_status_and_diff_tell_what_this_run_has_changed(project: Path, run) -> None:
    (project / "mine.txt").write_text("uncommitted\n")
    steps = [tool("git_status"), FIX, tool("git_status"), tool("git_diff"), tool("git_diff", base="HEAD"), DONE]
    agent = Agent(coder=steps)
    assert run(project, agent, GOAL, *ONCE).code == 0
    first, _, _, second, since_start, since_head = answers(agent)
    assert first.endswith("since the start of the run:\nnothing has changed")
    assert "?? mine.txt" in first
    assert second.endswith("since the start of the run:\nM  calc.py")
    assert "-    return a - b\n+    return a + b" in since_start
    assert "mine.txt" not in since_start
    assert "since commit" in since_head


@pytest.fixture
def remembering(project: Path) -> Path:
    (project / ".sdd").mkdir()
    (project / ".sdd" / "project.md").write_text("# Calc\n\nAdds.\n")
    return project


def test_a_note_outlives_a_failed_attempt_and_is_told_to_the_next_run(remembering: Path, run) -> None:
    note = tool("manage_memory", action="add", entry="add() was written by hand")
    ran = run(remembering, Agent(coder=[note, text("I could not do it.")]), GOAL, *ONCE)
    assert (ran.code, ran.result["putBack"]) == (3, [])
    kept = remembering / ".sdd" / "memory" / "core.md"
    assert kept.read_text() == "# Core memory\n\n- add() was written by hand\n"
    assert ran.result["changed"] == []
    agent = Agent(coder=[FIX, DONE])
    ran = run(remembering, agent, GOAL, *ONCE)
    assert (ran.code, ran.result["putBack"], ran.result["changed"]) == (0, [], ["calc.py"])
    assert "- add() was written by hand" in agent.requests("coder")[0].text
    assert kept.exists()


@pytest.mark.kill
def test_a_note_made_before_a_kill_is_made_once_and_does_not_change_what_was_said(remembering: Path) -> None:
    steps = [tool("manage_memory", action="add", entry="first"), FIX]
    agent = Agent(coder=lambda request, _: dict(enumerate(steps)).get(turns(request), DONE))
    with OpenAIServer(agent) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted"}
        start = ["run", GOAL, "--coder", "model", *ONCE, "--root", str(remembering)]
        killed = kotef_process(start, env, remembering.parent, kill_at="tool_finished:1")
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        done = kotef_process(["resume", "--last", "--root", str(remembering)], env, remembering.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (remembering / ".sdd" / "memory" / "core.md").read_text() == "# Core memory\n\n- first\n"
    first, *others = agent.requests("coder")
    assert len(others) == 2
    assert all(other.messages[:2] == first.messages[:2] for other in others)
    assert answers(agent)[0] == "added to core"


def test_in_ci_the_memory_is_only_read_and_nothing_else_is_written_below_sdd(
    remembering: Path, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    steps = [tool("manage_memory", action="add", entry="x"), tool("manage_memory", action="list")]
    steps += [tool("write_file", path=".sdd/memory/core.md", content="- x\n"), FIX, DONE]
    agent = Agent(coder=steps)
    assert run(remembering, agent, GOAL, *ONCE).code == 0
    added, listed, written, *_ = answers(agent)
    assert "read-only in CI" in added
    assert listed.startswith("core: 0 of 20 notes")
    assert ".sdd defines the task and must not be written" in written
    assert not (remembering / ".sdd" / "memory").exists()


def test_a_skill_is_found_used_and_its_file_read(project: Path, run) -> None:
    folder = project / ".agents" / "skills" / "adding"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: adding\ndescription: How sums are made here.\n---\nUse plus.\n")
    (folder / "table.txt").write_text("1 + 1 = 2\n")
    (project / ".agents" / "skills" / "broken").mkdir()
    for number in range(8):  # so many that not all are named at once: what is left can be searched
        (project / ".agents" / "skills" / f"other{number}").mkdir()
        other = f"---\nname: other{number}\ndescription: {'Not about it. ' * 20}\n---\n"
        (project / ".agents" / "skills" / f"other{number}" / "SKILL.md").write_text(other)
    steps = [tool("skill_find", query="sums"), tool("skill_use", name="adding")]
    steps += [tool("skill_resource", name="adding", path=path) for path in ("table.txt", "../../../calc.py")]
    agent = Agent(coder=[*steps, FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0, ran.stdout
    found, used, table, outside, *_ = answers(agent)
    assert found == "adding: How sums are made here."
    assert "Use plus." in used
    assert "table.txt" in used
    assert table == "1 + 1 = 2\n"
    assert "leads out of the skill adding" in outside
    assert BUG.splitlines()[1] not in outside
    first = agent.requests("coder")[0].text
    assert "- adding: How sums are made here." in first
    assert "- … skill_find lists all 9" in first
    assert "other6" in first
    assert "other7" not in first
    assert first.count("Not about it.") < 7 * 7, "one line each"
    assert "1 skill cannot be used; `kotef skills` shows why" in ran.stdout


def test_skills_that_are_all_named_need_no_search_and_without_files_no_reader_of_them(project: Path, run) -> None:
    folder = project / ".agents" / "skills" / "adding"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: adding\ndescription: How sums are made here.\n---\nUse plus.\n")
    agent = Agent(coder=[tool("skill_use", name="adding"), FIX, DONE])
    assert run(project, agent, GOAL, *ONCE).code == 0
    assert "Use plus." in answers(agent)[0]
    assert [name for name in agent.requests("coder")[0].tools if "skill" in name] == ["skill_use"]


def test_where_there_is_nothing_to_use_no_tool_and_no_word_is_paid_for(project: Path, run) -> None:
    agent = Agent(coder=[FIX, DONE])
    assert run(project, agent, GOAL, *ONCE).code == 0
    first = agent.requests("coder")[0]
    assert not {"manage_memory", "skill_find", "skill_use", "skill_resource", "web_fetch"}.intersection(first.tools)
    assert not re.search("skill|Notes of earlier", first.text, re.IGNORECASE)
    assert list(first.tools) == sorted(first.tools)


def test_a_tier_without_an_editing_tool_is_declined_with_that_reason(
    project: Path, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KOTEF_TOOLS", "Core")
    agent = Agent(coder=[FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert (ran.code, ran.result["outcome"]) == (3, "stuck")
    assert agent.seen == [], "no model call for a coder that cannot edit, nor for its plan"
    declined = [event["why"] for event in ran.events if event["event"] == "declined"]
    words = "none of its tools edits a file (find_files, grep, list_dir, view_file), at KOTEF_TOOLS=core"
    assert declined[0].startswith(words)
    assert words in ran.result["sentence"]


@pytest.mark.examples(1)
@pytest.mark.parametrize(("asked", "warned"), [("standard", 0), ("ALL", 0), ("none", 1)])
def test_a_tier_narrows_and_an_unknown_one_warns(
    remembering: Path, run, monkeypatch: pytest.MonkeyPatch, asked: str, warned: int
) -> None:
    monkeypatch.setenv("KOTEF_TOOLS", asked)
    agent = Agent(coder=[FIX, DONE])
    ran = run(remembering, agent, GOAL, *ONCE)
    assert ran.code == 0
    tools = agent.requests("coder")[0].tools
    assert ("manage_memory" in tools) == (asked != "standard")
    said = [event["text"] for event in ran.events if event["event"] == "notice"]
    assert sum("no such tier" in words for words in said) == warned


def test_the_commands_list_tools_and_skills(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del monkeypatch
    ran = kotef(project, "skills")
    assert ran.stdout.startswith("no skills here; a skill is a folder with a SKILL.md in .sdd/skills, .agents/skills")


def test_a_look_after_an_effect_sees_it_and_one_before_it_does_not(project: Path, run) -> None:
    """However long each of them takes."""
    slow = call("run_command", command="sleep 0.3; cat calc.py; echo made > made.txt")
    turn = calls(
        call("grep", pattern="return"),
        slow,
        *(call("view_file", path=path) for path in ("made.txt", "calc.py")),
        call("edit_file", path="calc.py", edits=[{"search": "a - b", "replace": "a + b"}]),
        call("grep", pattern="return"),
    )
    agent = Agent(coder=[turn, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0
    first, command, made, before, _, last = answers(agent)
    assert ("a - b" in first, "a - b" in command, "made" in made, "a - b" in before) == (True, True, True, True)
    assert "a + b" in last
    shown = [event["tool"] for event in ran.events if event["event"] == "tool_started"]
    assert shown == ["grep", "run_command", "view_file", "view_file", "edit_file", "grep"]
