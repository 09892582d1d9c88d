"""What the model is sent when the conversation grows, and what it can have back."""

import json
import os
import re
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.loop import BUG, CHECK, DONE, FIX, Agent, Ran, blind, edit, kotef, write
from support.openai_server import OpenAIServer, Reply, Request, call, calls, overflow, text
from support.process import kotef_process

from kotef.runs.store import runs_dir

GOAL = "make add add"
ONCE = ("--check", CHECK, "--max-attempts", "1")
SUMMARY = "- Found: add subtracts\n- Solved: a missing file, by its right name\n- Next: edit calc.py"


def look(path: str, **arguments: Any) -> Reply:
    return calls(call("view_file", path=path, **arguments))


def named(ran: Ran, name: str) -> list[dict[str, Any]]:
    return [event for event in ran.events if event["event"] == name]


class Coder:
    """Replies in order, whatever is summed up between them; usage is left to be estimated from what was sent."""

    def __init__(self, *replies: Reply, overflows: Sequence[int] = ()) -> None:
        self.replies, self.overflows = list(replies), set(overflows)
        self.summaries: list[Request] = []
        self.asked: list[Request] = []

    def __call__(self, request: Request, number: int) -> Reply:
        if request.body.get("tool_choice") == "none":
            self.summaries.append(request)
            return replace(text(SUMMARY), tokens=None)
        if number in self.overflows:
            return overflow("llama.cpp")
        self.asked.append(request)
        return replace(self.replies[len(self.asked) - 1], tokens=None)


def must_be_well_formed(requests: Sequence[Request]) -> None:
    """Every result has its call and every call its result, and no two of the assistant's stand in a row."""
    for request in requests:
        roles = [message["role"] for message in request.messages]
        made = [one["id"] for message in request.messages for one in message.get("tool_calls") or ()]
        answered = [message["tool_call_id"] for message in request.messages if message["role"] == "tool"]
        assert made == answered
        assert ("assistant", "assistant") not in pairwise(roles)
        assert roles[-1] in ("user", "tool")


def repeated(requests: Sequence[Request]) -> float:
    """The share of what was sent, from the second request on, that repeats the one before from its first byte."""
    bodies = [prompt_of(request) for request in requests]
    same = sent = 0
    for before, now in pairwise(bodies):
        same += next(
            (at for at, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), min(len(before), len(now))
        )
        sent += len(now)
    return same / sent


def prompt_of(request: Request) -> str:
    """What a server makes its prompt of: the tools, then the conversation."""
    text = json.dumps([request.body.get("tools"), request.messages])
    return text.removesuffix("]]")


@pytest.fixture
def files(project: Path) -> Path:
    """The tiny project with twenty files of 4,000 characters."""
    for number in range(20):
        (project / f"n{number}.txt").write_text("".join(f"{number} line {line} {'x' * 60}\n" for line in range(55)))
    return project


def test_long_results_are_truncated_first_and_can_be_read_back(files: Path, run) -> None:
    """No summary is paid for where truncating is enough; a resume shows the stash as well as this visit does."""
    for number in range(6):
        (files / f"n{number}.txt").write_text("".join(f"{number} line {line} {'x' * 60}\n" for line in range(165)))
    coder = Coder(*(look(f"n{number}.txt") for number in range(6)), FIX, DONE)
    ran = run(files, Agent(coder=coder), GOAL, *ONCE, "--context-window", "20000")
    assert ran.code == 0
    (event,) = named(ran, "compacted")
    assert (event["how"], event["window"]) == ("truncated", 20_000)
    assert event["tokens_before"] > 0.85 * 20_000 > 0.5 * 20_000 >= event["tokens_after"]
    assert not coder.summaries
    last = coder.asked[-1]
    first_result = next(message["content"] for message in last.messages if message["role"] == "tool")
    assert len(first_result) < 1_500
    assert "n5.txt: lines 1-165" in last.text, "the last turns are whole"
    assert "5 line 30" in last.text
    name = re.search(r"tr_[a-z2-7]{12}", first_result)[0]
    kept = ran.run_dir / "stash" / name
    assert "0 line 30" in kept.read_text()
    assert "0 line 30" not in first_result
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    must_be_well_formed(coder.asked)


def test_a_summary_stands_for_the_steps_and_the_next_one_supersedes_it(files: Path, run) -> None:
    steps = [
        edit("calc.py", "a - b", "a - b - 0"),
        *(look(f"n{number}.txt", start=part) for number in range(20) for part in (1, 2)),
    ]
    coder = Coder(*steps, edit("calc.py", "a - b - 0", "a + b"), DONE)
    agent = Agent(coder=coder)
    ran = run(files, agent, GOAL, *ONCE, "--context-window", "5000")
    assert ran.code == 0, ran.stdout
    hows = [event["how"] for event in named(ran, "compacted")]
    assert hows.count("summary") == len(coder.summaries) >= 2
    for request in coder.summaries:
        assert request.body["tools"] == coder.asked[0].body["tools"]
        assert request.messages[-1]["role"] == "user"
        assert "tracked separately" in request.messages[-1]["content"]
    assert "is replaced too" not in coder.summaries[0].text
    assert "is replaced too" in coder.summaries[1].text
    must_be_well_formed([*coder.asked, *coder.summaries])
    last = coder.asked[-1]
    assert last.text.count("- Found: add subtracts") == 1, "it supersedes itself"
    first = coder.asked[0].messages
    assert last.messages[0] == first[0], "the system prompt"
    assert last.messages[1]["content"].startswith(first[1]["content"]), "task and spec stay as they are"
    assert "Files modified: calc.py" in last.text
    assert re.search(r"Files read: calc\.py, n0\.txt, n1\.txt", last.text)
    told = [event["tokens_in"] for event in named(ran, "model_answer")]
    usage = ran.result["usage"]
    assert sum(told) == usage["tokensIn"], "each call is told once: a summary is no part of the answer after it"
    assert usage["calls"] == len(coder.asked) + len(coder.summaries) + len(agent.requests("planner"))


def test_what_is_sent_repeats_the_request_before_over_fifty_turns_and_the_prefix_never_drifts(files: Path, run) -> None:
    for number in range(60):
        (files / f"s{number}.txt").write_text(f"{number}\n" * 40)
    coder = Coder(*(look(f"s{number}.txt") for number in range(50)), FIX, DONE)
    ran = run(files, Agent(coder=coder), GOAL, *ONCE)
    assert ran.code == 0
    assert repeated(coder.asked) >= 0.95
    assert not named(ran, "compacted")
    assert not named(ran, "prefix_drift")
    ((model, prefix),) = json.loads((ran.run_dir / "prefixes.json").read_text())["coder"].items()
    assert model == "scripted"
    assert re.fullmatch(r"[0-9a-f]{64}", prefix["sha256"])
    assert prefix["length"] > 1000
    assert set(prefix["parts"]) == {"system prompt", *coder.asked[0].tools}


def test_it_still_repeats_itself_when_it_is_cut(files: Path, run) -> None:
    for number in range(60):
        (files / f"s{number}.txt").write_text(f"{number} and some more words\n" * 30)
    coder = Coder(*(look(f"s{number}.txt") for number in range(50)), FIX, DONE)
    ran = run(files, Agent(coder=coder), GOAL, *ONCE, "--context-window", "8000")
    assert ran.code == 0
    assert 1 <= len(named(ran, "compacted")) <= 6, "a cut is deep, so that it is rare"
    assert repeated(coder.asked) >= 0.9
    must_be_well_formed([*coder.asked, *coder.summaries])


def test_an_endpoint_that_says_it_is_too_much_is_asked_once_more_with_less(files: Path, run) -> None:
    """Nobody knows the window: the endpoint's own word counts."""
    coder = Coder(*(look(f"n{number}.txt") for number in range(6)), FIX, DONE, overflows=[6])
    agent = Agent(coder=coder)
    ran = run(files, agent, GOAL, *ONCE)
    assert ran.code == 0
    assert len(named(ran, "compacted")) == 1
    must_be_well_formed(coder.asked)


def test_an_endpoint_that_counts_too_little_is_not_believed(files: Path, run) -> None:
    """Ten tokens for any request: the window is full all the same, and what is sent tells so."""
    coder = Coder(*(look(f"n{number}.txt") for number in range(12)), FIX, DONE)
    sizes = []

    def agent(request: Request, number: int) -> Reply:
        if "PlanAnswer" not in request.tools:
            sizes.append(len(prompt_of(request)))
        return replace(inner(request, number), tokens=(5, 5))

    inner = Agent(coder=coder)
    ran = run(files, agent, GOAL, *ONCE, "--context-window", "6000")
    assert ran.code == 0
    cuts = named(ran, "compacted")
    assert cuts
    assert all(cut["tokens_after"] < 0.6 * 6000 < 0.85 * 6000 <= cut["tokens_before"] < 9000 for cut in cuts)
    assert max(sizes) / 4 < 1.3 * 6000, "at four characters a token, with the words of JSON around them"
    must_be_well_formed([*coder.asked, *coder.summaries])


def test_an_endpoint_that_counts_few_tokens_for_plain_text_is_believed(files: Path, run) -> None:
    """Text of one letter is cheap: the model's own count stands while it can be true."""
    coder = Coder(*(look(f"n{number}.txt") for number in range(6)), FIX, DONE)

    def agent(request: Request, number: int) -> Reply:
        return replace(inner(request, number), tokens=(len(prompt_of(request)) // 6, 5))

    inner = Agent(coder=coder)
    ran = run(files, agent, GOAL, *ONCE, "--context-window", "8500")
    assert ran.code == 0
    assert not named(ran, "compacted")


def test_the_server_is_asked_for_its_window_once(files: Path, run) -> None:
    coder = Coder(*(look(f"n{number}.txt") for number in range(9)), FIX, DONE)
    listed = json.dumps({"data": [{"id": "scripted", "max_model_len": 6000}]})

    def agent(request: Request, number: int) -> Reply:
        server.model_list = listed
        return inner(request, number)

    inner = Agent(coder=coder)
    with OpenAIServer(agent) as server:
        ran = kotef(files, "run", GOAL, *ONCE, "--coder", "model", "--base-url", server.base_url, "--model", "scripted")
        assert ran.code == 0
        assert {event["window"] for event in named(ran, "compacted")} == {6000}
        assert server.lookups == 1


@pytest.mark.examples(1)
@pytest.mark.parametrize(("asked", "window"), [((), 6000), (("--context-window", "9000"), 9000)])
def test_the_users_settings_say_what_a_model_reads_at_once(
    files: Path, run, asked: tuple[str, ...], window: int
) -> None:
    """For this model only, and an option of the run goes before it."""
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "kotef" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[models."scripted"]\nwindow = 6000\n[models."another"]\nwindow = 1000\n')
    coder = Coder(*(look(f"n{number}.txt") for number in range(9)), FIX, DONE)
    ran = run(files, Agent(coder=coder), GOAL, *ONCE, *asked)
    assert ran.code == 0
    assert {event["window"] for event in named(ran, "compacted")} == {window}


def test_the_nearest_instructions_of_a_folder_are_told_once_with_the_first_file_below_it(project: Path, run) -> None:
    for folder, said in (("web", "Tabs here."), ("web/deep", f"No tabs here.{' Really.' * 1000}"), ("plain", "")):
        (project / folder).mkdir()
        (project / folder / "AGENTS.md").write_text(said)
        (project / folder / "a.txt").write_text("a\n")
        (project / folder / "b.txt").write_text("b\n")
    (project / "AGENTS.md").write_text("Be brief.\n")
    steps = [
        look("calc.py"),
        calls(call("view_file", path="web/a.txt"), call("view_file", path="web/b.txt")),
        calls(blind("web/a.txt", "a", "c"), call("list_dir", path="web/deep")),
        write("web/deep/new.txt", "x\n"),
        look("web/deep/none.txt"),
        look("plain/a.txt"),
        FIX,
        DONE,
    ]
    agent = Agent(coder=steps)
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0
    last = agent.requests("coder")[-1]
    results = [message["content"] for message in last.messages if message["role"] == "tool"]
    assert ["<repository>" in result for result in results] == [False, True, *[False] * 3, True, *[False] * 4]
    assert results[1].startswith("web/a.txt: ")
    assert "web/AGENTS.md: instructions for this folder" in results[1]
    assert "Tabs here." in results[1]
    assert "No tabs here." in results[5]
    assert len(results[5]) < 3_500
    assert last.text.count("Be brief.") == 1, "that of the workspace stands in the first message"
    asked = [request.messages for request in agent.requests("coder")]
    assert all(now[: len(before)] == before for before, now in pairwise(asked)), "what was sent stays as it was"


def test_instructions_that_a_person_asks_to_see_are_not_told_twice(project: Path, run) -> None:
    (project / "web").mkdir()
    (project / "web" / "AGENTS.md").write_text("Tabs here.")
    (project / "web" / "a.txt").write_text("a\n")
    agent = Agent(coder=[look("web/AGENTS.md"), look("web/a.txt"), FIX, DONE])
    assert run(project, agent, GOAL, *ONCE).code == 0
    assert agent.requests("coder")[-1].text.count("Tabs here.") == 1


def test_recent_failures_are_shown_from_the_first_cut_on_and_not_before(files: Path, run) -> None:
    coder = Coder(
        look("calc.py"),
        calls(blind("calc.py", "no such text", "x")),
        *(look(f"n{number}.txt") for number in range(7)),
        FIX,
        DONE,
    )
    ran = run(files, Agent(coder=coder), GOAL, *ONCE, "--context-window", "7000")
    assert ran.code == 0
    shown = ["## Recent Failures" in request.text for request in coder.asked]
    assert shown == sorted(shown)
    assert any(shown)
    cut = next(number for number, request in enumerate(coder.asked) if "view_truncated_output tr_" in request.text)
    assert shown.index(True) == cut, "with the very request that no longer shows everything"
    assert coder.asked[-1].text.count("## Recent Failures") == 1


def test_reasoning_helps_the_summary_and_is_never_sent_as_words_of_the_answer(files: Path, run) -> None:
    thinking = [replace(look(f"n{n}.txt", start=p), reasoning=f"idea {n}") for n in range(12) for p in (1, 2)]
    coder = Coder(*thinking, FIX, DONE)
    run(files, Agent(coder=coder), GOAL, *ONCE, "--context-window", "5000")
    assert coder.summaries
    assert "idea 0" in coder.summaries[0].messages[-1]["content"]
    contents = [str(message["content"]) for request in coder.asked for message in request.messages]
    assert not any("idea" in content for content in contents), "it goes back in the field that it came in"


def test_a_long_output_names_its_rest_and_a_resume_reads_it(project: Path, run) -> None:
    noisy = calls(call("run_command", command="seq 1 9000"))
    first = Agent(coder=[noisy, DONE])
    ran = run(project, first, GOAL, *ONCE)
    assert ran.code == 3
    name = re.search(r"view_truncated_output (tr_[a-z2-7]{12}) shows what was kept", first.requests("coder")[1].text)[1]
    again = calls(call("view_truncated_output", id=name, range="4000-4002"))
    second = Agent(coder=[again, FIX, DONE])
    assert run(project, second, "--last", "--max-attempts", "2", command="resume").code == 0
    assert "lines 4000-4002 of" in second.requests("coder")[1].text
    assert "\n4001\n" in second.requests("coder")[1].text


def test_the_middle_of_a_very_long_output_can_be_read_back(project: Path, run) -> None:
    """Half a million characters, of which a command's result holds the ends only; and of more than is kept, both ends."""
    long = r"import sys; getattr(sys, sys.argv[1]).write('\n'.join(f'{n:050}' for n in range(1, int(sys.argv[2]))))"
    (project / "long.py").write_text(f"{long}\nraise SystemExit(len(sys.argv) > 3)\n")
    red = "python long.py stdout 10001 red"

    def coder(request: Request, number: int) -> Reply:
        if number == 0:
            runs = [call("run_command", command=f"python long.py {stream} 10001") for stream in ("stdout", "stderr")]
            return calls(*runs, call("run_checks"), call("run_command", command="python long.py stdout 110001"))
        if number > 1:
            return [FIX, DONE][number - 2]
        found = [
            re.search(r"view_truncated_output (tr_[a-z2-7]{12})", one["content"])[1] for one in request.messages[-4:]
        ]
        ranges = [*["5000-5001"] * 3, "1-2"]
        return calls(
            *(call("view_truncated_output", id=name, range=lines) for name, lines in zip(found, ranges, strict=True))
        )

    agent = Agent(coder=coder)
    ran = run(project, agent, GOAL, "--check", CHECK, "--check", red, "--max-attempts", "1")
    shown = [message["content"] for message in agent.requests("coder")[2].messages[-4:]]
    assert all(f"\n{5000:050}\n{5001:050}\n" in text for text in shown[:3])
    assert shown[3].partition("\n")[2].startswith(f"{1:050}\n{2:050}\n")
    longest = max((ran.run_dir / "stash").iterdir(), key=lambda path: path.stat().st_size)
    assert "bytes left out" in (kept := longest.read_text())
    assert kept.endswith(f"\n{110000:050}")
    assert longest.stat().st_size <= 5_000_000


def test_a_file_is_edited_only_after_it_was_read_and_as_it_was_read(project: Path, run) -> None:
    steps = [
        calls(blind("calc.py", "a - b", "a + b")),
        write("calc.py", "def add(a, b):\n    return a + b\n"),
        look("calc.py"),
        calls(call("run_command", command="echo '# theirs' >> calc.py")),
        calls(blind("calc.py", "a - b", "a + b")),
        look("calc.py"),
        calls(blind("calc.py", "a - b", "a + b")),
        calls(blind("calc.py", "# theirs", "# ours")),
        write("new.txt", "one\n"),
        write("new.txt", "two\n"),
        DONE,
    ]
    agent = Agent(coder=steps)
    ran = run(project, agent, GOAL, *ONCE)
    said = [request.messages[-1]["content"].partition("\n")[0] for request in agent.requests("coder")[1:]]
    assert (
        said[0]
        == said[1]
        == ("calc.py was not read in this conversation; look at it with view_file first, then edit it")
    )
    assert said[4] == "calc.py has changed since you read it; look at it again with view_file, then edit it"
    assert said[6].startswith("edited calc.py"), "after it was read"
    assert said[7].startswith("edited calc.py"), "its own edits are known"
    assert said[9].startswith("wrote new.txt")
    assert ran.code == 0
    assert (project / "calc.py").read_text() == BUG.replace("a - b", "a + b") + "# ours\n"
    assert ran.result["filesRead"] == ["calc.py"]
    assert [one["path"] for one in ran.result["filesModified"]] == ["calc.py", "new.txt"]


def test_files_read_are_told_to_the_next_attempt_and_to_the_reader_of_the_issue(project: Path, run) -> None:
    agent = Agent(coder=[look("test_calc.py"), calls(call("find_files", glob="*.py")), DONE, look("calc.py"), DONE])
    ran = run(project, agent, GOAL, "--check", CHECK, "--max-attempts", "2")
    assert "Files read before: test_calc.py" in agent.requests("coder")[3].text
    assert "Files read before" not in agent.requests("coder")[0].text
    assert ran.result["filesRead"] == ["calc.py", "test_calc.py"]
    (entry,) = ran.issues
    assert entry["files_read"] == ("calc.py", "test_calc.py")
    assert "test_calc.py" in (ran.run_dir / "report.md").read_text()


def test_a_prefix_that_changes_between_two_parts_of_a_run_is_warned_of(project: Path, run) -> None:
    started = run(project, Agent(coder=[DONE]), GOAL, *ONCE)
    kept = started.run_dir / "prefixes.json"
    before = json.loads(kept.read_text())
    before["coder"]["scripted"] |= {"sha256": "0" * 64}
    before["coder"]["scripted"]["parts"]["system prompt"] = "another"
    kept.write_text(json.dumps(before))
    ran = run(project, Agent(coder=[FIX, DONE]), "--last", "--max-attempts", "2", command="resume")
    assert [event["changed"] for event in named(ran, "prefix_drift")] == [["system prompt"]], (
        "once, not in each request"
    )
    assert "the request prefix changed: system prompt" in ran.stdout


def test_what_the_planner_sends_first_is_kept_too_and_its_change_told(project: Path, run) -> None:
    started = run(project, Agent(coder=[DONE, DONE]), GOAL, "--check", CHECK, "--max-attempts", "2")
    assert not named(started, "prefix_drift"), "two plans of one run begin alike, whatever they are asked"
    kept = started.run_dir / "prefixes.json"
    before = json.loads(kept.read_text())
    assert before["planner"]["scripted"]["parts"].keys() == {"system prompt", "PlanAnswer"}
    before["planner"]["scripted"] |= {"sha256": "0" * 64}
    before["planner"]["scripted"]["parts"]["PlanAnswer"] = "another"
    kept.write_text(json.dumps(before))
    ran = run(project, Agent(coder=[FIX, DONE]), "--last", "--max-attempts", "3", command="resume")
    (drift,) = named(ran, "prefix_drift")
    assert (drift["role"], drift["changed"]) == ("planner", ["PlanAnswer"])
    assert json.loads(kept.read_text())["coder"] == before["coder"]


def test_an_old_text_of_the_stash_is_removed(project: Path, run) -> None:
    old = runs_dir(project) / "20200101-000000-abcd" / "stash" / "tr_aaaaaaaaaaaa"
    old.parent.mkdir(parents=True)
    old.write_text("x")
    os.utime(old, (time.time() - 8 * 86_400,) * 2)
    run(project, Agent(coder=[FIX, DONE]), GOAL, *ONCE)
    assert not old.exists()


def test_a_resume_sends_what_the_killed_process_would_have_sent(files: Path, tmp_path: Path) -> None:
    """What is cut is on record with the answer, so that the endpoint's cache outlives the process."""
    coder = Coder(*(look(f"n{number}.txt", start=part) for number in range(10) for part in (1, 2)), FIX, DONE)
    with OpenAIServer(Agent(coder=coder)) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted"}
        asked = ["run", GOAL, *ONCE, "--coder", "model", "--context-window", "5000", "--root", str(files)]
        killed = kotef_process(asked, env, tmp_path, kill_at="tool_finished:12")
        assert killed.returncode == -signal.SIGKILL
        known, summaries = len(coder.asked), len(coder.summaries)
        assert summaries
        resumed = kotef_process(["resume", "--last", "--root", str(files)], env, tmp_path)
    assert resumed.returncode == 0, resumed.stdout
    before, after = coder.asked[known - 1], coder.asked[known]
    assert after.messages[: len(before.messages)] == before.messages
    assert SUMMARY in after.text
    must_be_well_formed([*coder.asked, *coder.summaries])


def test_an_edit_that_a_kill_cut_short_is_known_to_be_its_own(project: Path, tmp_path: Path) -> None:
    """The next edit of that file needs no second look, and happens once."""
    steps = [
        look("calc.py"),
        calls(blind("calc.py", "a - b", "a - b - 0")),
        calls(blind("calc.py", "a - b - 0", "a + b")),
    ]
    coder = Coder(*steps, DONE)
    with OpenAIServer(Agent(coder=coder)) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted"}
        asked = ["run", GOAL, *ONCE, "--coder", "model", "--root", str(project)]
        assert kotef_process(asked, env, tmp_path, kill_at="file:1").returncode == -signal.SIGKILL
        resumed = kotef_process(["resume", "--last", "--root", str(project)], env, tmp_path)
    assert resumed.returncode == 0, resumed.stdout
    assert "was made before kotef was interrupted" in coder.asked[2].text
    assert "edited calc.py" in coder.asked[3].messages[-1]["content"]
    assert (project / "calc.py").read_text() == BUG.replace("a - b", "a + b")
    assert [one["path"] for one in Ran(0, "", "", project).result["filesModified"]] == ["calc.py"]
