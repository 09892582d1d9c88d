"""A model that answers in broken ways is understood where it can be, told where not, and never acted upon by halves."""

import os
from pathlib import Path

import pytest
from support.loop import CHECK, DONE, FIX, FIXED, Agent
from support.openai_server import Call, Reply, call, calls, cut, paced, status, text

GOAL = "make add add"
LOOK = calls(call("view_file", path="calc.py"))
ONCE = ("--check", CHECK, "--max-attempts", "1")
ODD = {"mended", "rescued", "empty_answer", "model_retry", "model_fallback", "model_cancelled"}


@pytest.fixture(autouse=True)
def _quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The waits between retries are real, only shorter."""
    from kotef.models.openai import StrictChatOpenAI

    monkeypatch.setattr(StrictChatOpenAI.model_fields["retry_base"], "default", 0.01)
    StrictChatOpenAI.model_rebuild(force=True)


@pytest.fixture
def config():
    """`config(text)`: the user's configuration."""

    def write(text: str) -> None:
        path = Path(os.environ["XDG_CONFIG_HOME"]) / "kotef" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return write


def named(ran, *names: str):
    return [event for event in ran.events if event["event"] in names]


def test_arguments_with_wrong_syntax_are_mended_and_told(project: Path, run) -> None:
    broken = "{'path': 'calc.py', edits: [{'search': 'a - b', 'replace': 'a + b',}],}"
    ran = run(project, Agent(coder=[LOOK, calls(Call("edit_file", broken)), DONE]), GOAL, *ONCE)
    assert ran.code == 0
    assert (project / "calc.py").read_text() == FIXED
    (said,) = named(ran, "mended")
    assert (said["tool"], said["what"]) == ("edit_file", "key without quotes, single quotes, trailing comma")
    assert "edit_file: its arguments were repaired: key without quotes" in ran.stdout


@pytest.mark.examples(1)
@pytest.mark.parametrize("whole", ['{"path": "calc.py", "content": "x = 1', "{'path': 'calc.py', 'content': 'x'"])
def test_what_is_half_is_never_closed_but_answered_with_its_error(project: Path, run, whole: str) -> None:
    agent = Agent(coder=[calls(Call("write_file", whole)), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert (ran.code, named(ran, "mended")) == (0, [])
    assert "Nothing was executed" in agent.requests("coder")[1].messages[-1]["content"]
    assert (project / "calc.py").read_text() == FIXED


def test_answers_to_one_turn_come_in_the_order_of_its_calls(project: Path, run) -> None:
    """Also where the first, or one between, is malformed; a model that counts takes none for another's."""
    turn = calls(
        Call("grep", '{"pattern": '), call("list_dir"), Call("view_file", '{"path'), call("view_file", path="calc.py")
    )
    agent = Agent(coder=[turn, FIX, DONE])
    assert run(project, agent, GOAL, *ONCE).code == 0
    *_, said, first, second, third, fourth = agent.requests("coder")[1].messages
    assert [one["function"]["name"] for one in said["tool_calls"]] == ["grep", "list_dir", "view_file", "view_file"]
    answered = [first, second, third, fourth]
    assert [one["tool_call_id"] for one in answered] == [one["id"] for one in said["tool_calls"]]
    broken = ["Nothing was executed" in one["content"] for one in answered]
    assert broken == [True, False, True, False]


def test_a_whole_call_in_an_answer_without_an_end_of_its_own_is_not_mended(project: Path, run) -> None:
    broken = Reply(calls=(Call("write_file", "{'path': 'sneaky.txt', 'content': 'x'}"),), finish_reason="length")
    ran = run(project, Agent(coder=[broken, FIX, DONE]), GOAL, *ONCE)
    assert (ran.code, named(ran, "mended")) == (0, [])
    assert not (project / "sneaky.txt").exists()


def test_a_plan_with_wrong_syntax_is_mended_and_told_too(project: Path, run) -> None:
    broken = "{hypothesis: 'a sign', 'steps': [{'description': 'fix add', 'files': ['calc.py'],}], 'blocked': ''}"
    ran = run(project, Agent(coder=[FIX, DONE], planner=[calls(Call("PlanAnswer", broken))]), GOAL, *ONCE)
    assert (ran.code, [event["tool"] for event in named(ran, "mended")]) == (0, ["PlanAnswer"])
    assert [event["source"] for event in named(ran, "planned")] == ["model"]


def test_an_answer_that_is_cancelled_is_recorded_and_nothing_of_it_acts(project: Path, run) -> None:
    late = paced(calls(call("write_file", path="sneaky.txt", content="x" * 6000)), 0.05)
    ran = run(project, Agent(coder=[late]), GOAL, *ONCE, "--max-time", "5")
    assert (ran.code, ran.result["stoppedBy"]) == (4, "time")
    assert [(event["model"], event["tries"]) for event in named(ran, "model_cancelled")] == [("scripted", 1)]
    assert not (project / "sneaky.txt").exists()


def test_a_stream_that_stops_half_way_executes_nothing(project: Path, run) -> None:
    sneaky = calls(call("write_file", path="sneaky.txt", content="a text that is long enough to be cut"))
    agent = Agent(coder=[cut(sneaky, 5), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0
    assert not (project / "sneaky.txt").exists()
    assert [event["level"] for event in named(ran, "model_retry")] == ["quiet"]
    assert "again in" not in ran.stdout


def test_values_of_a_call_that_came_as_text_get_the_types_of_the_schema(project: Path, run) -> None:
    """MCP tools and lists of edits judge types themselves: text is not what they ask for."""
    look = (
        "<function=view_file>\n<parameter=path>\ncalc.py\n</parameter>\n<parameter=start>\n2\n</parameter>\n</function>"
    )
    mend = (
        "<tool_call>\n<function=edit_file>\n<parameter=path>\ncalc.py\n</parameter>\n<parameter=edits>\n"
        '[{"search": "a - b", "replace": "a + b"}]\n</parameter>\n</function>\n</tool_call>'
    )
    agent = Agent(coder=[text(look), calls(call("view_file", path="calc.py")), text(mend), DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0, ran.stdout
    assert [event["calls"] for event in named(ran, "rescued")] == [["view_file"], ["edit_file"]]
    assert agent.requests("coder")[1].messages[-1]["content"].count("return") == 1


def test_text_values_of_a_structured_call_are_not_touched(project: Path, run) -> None:
    edits = '[{"search": "a - b", "replace": "a + b"}]'
    agent = Agent(coder=[LOOK, calls(call("edit_file", path="calc.py", edits=edits)), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0
    assert agent.requests("coder")[2].messages[-1]["role"] == "tool"
    assert "edits" in agent.requests("coder")[2].messages[-1]["content"]


@pytest.mark.examples(1)
@pytest.mark.parametrize(
    "nothing", [text(" \n"), Reply(content="", reasoning="hm"), text("<think>I should look</think>")]
)
def test_an_empty_turn_is_asked_once_more_with_a_note_that_is_not_kept(project: Path, run, nothing: Reply) -> None:
    agent = Agent(coder=[LOOK, nothing, FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0
    assert [event["asked_again"] for event in named(ran, "empty_answer")] == [True]
    requests = agent.requests("coder")
    holds = [number for number, request in enumerate(requests) if "your last answer was empty" in request.text]
    assert holds == [2]
    roles = [message["role"] for message in requests[-1].messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool", "tool"], (
        "what was empty is not sent back"
    )
    assert ran.result["usage"]["calls"] == 5, "but it was paid for"


def test_a_second_empty_turn_ends_the_visit_with_a_word(project: Path, run) -> None:
    agent = Agent(coder=[text(""), text(""), FIX])
    ran = run(project, agent, GOAL, *ONCE)
    assert (ran.code, ran.result["stoppedBy"]) == (3, "finished")
    assert ran.result["attempts"][0]["said"] == "The model returned two empty answers in a row."
    assert len(agent.requests("coder")) == 2
    assert [event["asked_again"] for event in named(ran, "empty_answer")] == [True, False]
    assert "the model returned an empty answer; asking again" in ran.stdout


def test_repeated_and_missing_call_ids_are_each_answered_once(project: Path, run) -> None:
    looks = [calls(Call("view_file", {"path": "calc.py"}, id=bad), Call("list_dir", {}, id=bad)) for bad in (None, "x")]
    agent = Agent(coder=[*looks, FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0
    last = agent.requests("coder")[-1].messages
    made = [one["id"] for message in last for one in message.get("tool_calls") or ()]
    assert made == [message["tool_call_id"] for message in last if message["role"] == "tool"]
    assert len(set(made)) == len(made) == 6


def test_retries_are_told_in_one_line_after_the_third(project: Path, run) -> None:
    agent = Agent(coder=[status(503, "busy"), status(503, "busy"), status(503, "busy"), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0
    assert [event["level"] for event in named(ran, "model_retry")] == ["quiet", "quiet", "line"]
    assert ran.stdout.count("HTTP 503: busy; again in") == 1


def test_a_fallback_model_takes_over_and_its_own_price_applies(project: Path, run, config) -> None:
    config("[prices.scripted]\ninput = 1.0\noutput = 0.0\n[prices.spare]\ninput = 1000.0\noutput = 0.0\n")
    steps = iter([FIX, DONE])

    def answer(request, number):
        if request.body["model"] == "scripted":
            return status(429, "no credit", code="insufficient_quota")
        return next(steps)

    agent = Agent(coder=answer)
    ran = run(project, agent, GOAL, *ONCE, "--fallback-model", "spare", "--planner-model", "spare", "--max-cost", "10")
    assert ran.code == 0, ran.stdout
    assert [request.body["model"] for request in agent.requests("coder")] == ["scripted", "spare", "spare"]
    assert [(event["model"], event["stand_in"]) for event in named(ran, "model_fallback")] == [("scripted", "spare")]
    assert "spare takes over for scripted" in ran.stdout
    assert ran.result["usage"]["cost"] == pytest.approx(3 * 100 * 1000 / 1_000_000), "plan and two answers"


def test_without_a_fallback_a_model_that_is_gone_ends_the_visit(project: Path, run) -> None:
    ran = run(project, Agent(coder=[status(401)]), GOAL, *ONCE)
    assert (ran.code, ran.result["reason"], ran.result["stoppedBy"]) == (7, "unauthorized", "model_error")
    assert named(ran, "model_fallback") == []


def test_the_price_of_the_fallback_is_asked_for_like_any_other(project: Path, run, config) -> None:
    config("[prices.scripted]\ninput = 1.0\noutput = 0.0\n")
    ran = run(project, Agent(), GOAL, *ONCE, "--max-cost", "1", "--fallback-model", "spare")
    assert ran.code == 2
    assert "the price of spare is not known" in ran.stderr


def test_an_honest_run_trips_nothing(project: Path, run) -> None:
    agent = Agent(coder=[calls(call("view_file", path="calc.py"), content="Let me look."), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE, "--fallback-model", "spare")
    assert (ran.code, named(ran, *ODD)) == (0, [])
    assert {request.body["model"] for _, request in agent.seen} == {"scripted"}


def test_arguments_no_tool_can_do_anything_with_are_refused_in_plain_words(project: Path, run) -> None:
    """Nothing of Python's own reaches the model, and what is wrong with a path is the call, not a permission."""
    odd = [
        call("find_files", glob="{" * 5000),
        call("grep", pattern="(" * 5000 + ")" * 5000),
        call("search_symbols", name="a" * 60_000),
        call("view_file", path="calc.py\0"),
    ]
    agent = Agent(coder=[calls(*odd), *(calls(one) for one in odd), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    sent = agent.requests("coder")[1].messages
    said = [message["content"] for message in sent if message["role"] == "tool"]
    assert not [text for text in said if "Error" in text or "recursion" in text.lower()]
    assert all(len(text) < 6000 for text in said)
    assert "nested too deeply" in said[1]
    assert said[2] == "the name has 60000 characters; at most 300 are allowed"
    assert said[3] == "calc.py\\0: a path cannot contain a NUL character; give a plain path"
    kinds = [kind for event in named(ran, "mistake_recovery") for kind in event["failure_kinds"]]
    assert "permission_denied" not in kinds
    assert "schema_reject" in kinds


NAMED = "<tool_call><name>view_file</name><arguments>{}</arguments></tool_call>"


def test_calls_as_text_with_a_name_and_arguments_between_tags_are_made(project: Path, run) -> None:
    look = NAMED.format('{"path": "calc.py"}')
    edits = '{"path": "calc.py", "edits": [{"search": "a - b", "replace": "a + b"}]}'
    fix = NAMED.replace("view_file", "edit_file").format(edits)
    agent = Agent(coder=[text(look), text(f"I see.\n{fix}"), DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert (ran.code, (project / "calc.py").read_text()) == (0, FIXED), ran.stdout


def test_a_call_as_text_of_no_tool_is_told_to_the_model_and_is_a_mistake(project: Path, run) -> None:
    wrong = text(NAMED.replace("view_file", "open_file").format("{}"))
    agent = Agent(coder=[wrong, wrong, wrong, FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0, ran.stdout
    assert "open_file is not a valid tool" in agent.requests("coder")[1].messages[-1]["content"]
    assert [event["failure_kinds"] for event in named(ran, "mistake_recovery")] == [["tool_not_found"] * 3]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (NAMED.replace("view_file", "open_file").format("{}"), "calls as text that name no tool (open_file)"),
        ('<tool_call>{"name": "view_file", "arguments": {"path": </tool_call>', "calls as text that cannot be read"),
        ("I would change calc.py.", "answered in words and called no tool"),
    ],
)
def test_where_no_attempt_changes_anything_screen_and_entry_say_why(project: Path, run, said: str, why: str) -> None:
    ran = run(project, Agent(coder=lambda *_: text(said)), GOAL, "--check", CHECK, "--max-attempts", "3")
    assert ran.code == 3
    assert why in " ".join(ran.stdout.split())
    assert f"none changed anything: the model {why if 'called' in why else 'wrote ' + why}" in ran.result["sentence"]
    assert [note for note in ran.issues[0]["notes"] if "attempt 3 changed nothing" in note and why in note]
