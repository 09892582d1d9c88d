"""What a collector of traces receives of a run: a real one over OTLP/HTTP, and the run does not depend on it."""

import json
import sys
from pathlib import Path

import pytest
from support.loop import CHECK, DONE, FIX, Agent, edit
from support.openai_server import call, calls, status, text
from support.otlp import Collector

from kotef.telemetry import exporter as sending

SECRET = "zq8J2mWx91LkTt55"


@pytest.fixture
def traced(project: Path, run, monkeypatch: pytest.MonkeyPatch):
    """`traced(agent)`: a run whose traces a collector receives."""

    def go(agent: Agent, *arguments: str, goal: str = "make add add", **env: str):
        with Collector() as collector:
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
            for name, value in env.items():
                monkeypatch.setenv(name, value)
            return run(project, agent, goal, "--check", CHECK, *arguments), collector

    return go


def test_a_run_is_one_trace_of_visits_nodes_calls_tools_and_checks(traced) -> None:
    wrong = edit("calc.py", "a - b", "a * b")
    agent = Agent(coder=[wrong, DONE, edit("calc.py", "a * b", "a + b"), DONE])
    ran, found = traced(agent, "--max-attempts", "2")
    assert ran.code == 0
    assert ran.stderr == ""
    assert found.paths[0] == "/v1/traces"
    assert len({span.trace for span in found.spans}) == 1

    [root] = found.named("invoke_agent kotef")
    assert not root.parent_id
    assert not root.error
    assert root.resource["service.name"] == "kotef"
    assert root.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert root.attributes["gen_ai.conversation.id"] == ran.run_dir.name
    assert root.attributes["kotef.outcome"] == "verified"
    assert root.attributes["kotef.exit_code"] == 0
    assert {found.parent(span).name for span in found.spans if span.name.startswith("visit ")} == {"invoke_agent kotef"}
    tree = {tuple(found.path(span)) for span in found.spans}
    run_of = "invoke_agent kotef"
    assert tree == {
        (run_of,),
        *((run_of, f"visit {visit}") for visit in range(3)),
        *((run_of, f"visit {visit}", "verifier") for visit in range(3)),
        *((run_of, f"visit {visit}", "verifier", f"check {CHECK}") for visit in range(3)),
        *((run_of, f"visit {visit}", node) for visit in (1, 2) for node in ("planner", "coder")),
        *((run_of, f"visit {visit}", node, "chat scripted") for visit in (1, 2) for node in ("planner", "coder")),
        *(
            (run_of, f"visit {visit}", "coder", f"execute_tool {tool}")
            for visit in (1, 2)
            for tool in ("view_file", "edit_file")
        ),
    }
    for span in found.spans:
        assert span.began <= span.ended
        if span.parent_id:
            assert found.parent(span).began <= span.began
            assert span.ended <= found.parent(span).ended

    chats = found.named("chat scripted")
    assert len(chats) == ran.server.calls == 6
    answered = chats[0].attributes
    assert {name: answered[name] for name in answered if name.startswith("gen_ai.")} == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "scripted",
        "gen_ai.response.model": "scripted",
        "gen_ai.response.id": answered["gen_ai.response.id"],
        "gen_ai.response.finish_reasons": ["tool_calls"],
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.conversation.id": ran.run_dir.name,
    }
    assert (answered["server.address"], chats[0].kind) == ("127.0.0.1", 3)
    ids = [chat.attributes["gen_ai.response.id"] for chat in chats]
    assert ids == [request.answer_id for request in ran.server.requests]
    checks = found.named(f"check {CHECK}")
    assert [(span.error, span.attributes["kotef.check.passed"]) for span in checks] == [
        (True, False),
        (True, False),
        (False, True),
    ]
    tool = found.named("execute_tool edit_file")[0].attributes
    assert (tool["gen_ai.operation.name"], tool["gen_ai.tool.name"]) == ("execute_tool", "edit_file")
    tools = [*found.named("execute_tool view_file"), *found.named("execute_tool edit_file")]
    given = {span.attributes["gen_ai.tool.call.id"] for span in tools}
    asked = {
        call["id"] for request in ran.server.requests for one in request.messages for call in one.get("tool_calls", ())
    }
    assert len(given) == len(tools) == 4
    assert given <= asked
    assert "kotef.cost" not in root.attributes, "the price of the model is unknown"


def test_what_people_and_models_say_is_left_out(traced) -> None:
    ran, found = traced(Agent(coder=[FIX, text("a secret thought of the model")]))
    assert ran.code == 0
    sent = b"".join(found.bodies).replace(CHECK.encode(), b"the check")
    for words in (b"make add add", b"a secret thought", b"calc.py", b"fix add", b"cause 0", b"return a - b"):
        assert words not in sent
    assert b"chat scripted" in sent


def test_content_is_sent_where_it_is_asked_for_and_without_secrets(project: Path, traced) -> None:
    (project / ".env").write_text(f"API_TOKEN={SECRET}\n")
    agent = Agent(coder=[calls(call("run_command", command=f"echo {SECRET[::-1]} | rev")), FIX, text("a thought")])
    ran, found = traced(
        agent, goal=f"make add add with {SECRET}", OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true"
    )
    assert ran.code == 0
    [root] = found.named("invoke_agent kotef")
    assert root.attributes["kotef.goal"] == "make add add with [secret:API_TOKEN]"
    last = found.named("chat scripted")[-1].attributes
    messages = json.loads(last["gen_ai.input.messages"])
    assert [part["type"] for message in messages for part in message["parts"]][:3] == [
        "text",
        "tool_call",
        "tool_call_response",
    ]
    assert json.loads(last["gen_ai.output.messages"])[0]["parts"] == [{"type": "text", "content": "a thought"}]
    assert json.loads(last["gen_ai.system_instructions"])[0]["content"]
    sent = b"".join(found.bodies)
    assert b"make add add" in sent
    assert SECRET.encode() not in sent
    assert any("traces with prompts, code and outputs are sent to" in notice for notice in ran.result["notices"])


def test_without_content_no_name_holds_a_secret_either(project: Path, traced) -> None:
    (project / ".env").write_text(f"API_TOKEN={SECRET}\n")
    agent = Agent(coder=[calls(call(f"run_{SECRET}")), FIX, DONE])
    ran, found = traced(agent, "--model", f"of-{SECRET}")
    assert ran.code == 0
    [root] = found.named("invoke_agent kotef")
    assert root.attributes["gen_ai.request.model"] == "of-[secret:API_TOKEN]"
    assert SECRET.encode() not in b"".join(found.bodies)


def test_a_run_that_fails_is_an_error_with_its_outcome(traced) -> None:
    ran, found = traced(Agent(coder=[status(400, "no")]), "--max-attempts", "1")
    assert ran.code == 7
    [root] = found.named("invoke_agent kotef")
    assert (root.error, root.attributes["error.type"], root.attributes["kotef.exit_code"]) == (
        True,
        "model_unavailable",
        7,
    )
    failed = found.named("chat scripted")[-1]
    assert (failed.error, failed.attributes["error.type"]) == (True, "bad_request")
    assert failed.attributes.get("error.message") != b"no"


def test_a_run_joins_the_trace_of_the_job_it_runs_in(traced) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    _, found = traced(
        Agent(coder=[FIX, DONE]), TRACEPARENT=f"00-{trace}-00f067aa0ba902b7-01", OTEL_SERVICE_NAME="shop-ci"
    )
    assert {span.trace for span in found.spans} == {trace}
    assert found.spans[0].resource["service.name"] == "shop-ci"


@pytest.mark.examples(1)
@pytest.mark.parametrize("dead", ["closed", "silent", "refusing"])
def test_a_dead_collector_neither_delays_a_run_nor_changes_how_it_ends(
    project: Path, run, monkeypatch: pytest.MonkeyPatch, dead: str
) -> None:
    closings = []
    close = sending.Collector.close

    def timed(collector: sending.Collector) -> str:
        import time

        began = time.monotonic()
        why = close(collector)
        closings.append(time.monotonic() - began)
        return why

    monkeypatch.setattr(sending.Collector, "close", timed)
    with Collector(silent=dead == "silent", status=400 if dead == "refusing" else 200) as collector:
        url = "http://127.0.0.1:9" if dead == "closed" else collector.url
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"{url.replace('//', '//user:pa55word@')}/some/token")
        ran = run(project, Agent(coder=[FIX, DONE]), "make add add", "--check", CHECK, "--json")
    assert ran.code == 0
    assert json.loads(ran.stdout)["outcome"] == "verified"
    assert closings[0] < sending.SECONDS + 1.5
    assert ran.stderr.splitlines() == [line for line in ran.stderr.splitlines() if line.startswith("kotef: warning: ")]
    [said] = ran.stderr.splitlines()
    assert f"not all traces reached {url}: it " in said
    assert "pa55word" not in said


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({}, ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:1", "OTEL_TRACES_EXPORTER": "none"}, ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:1", "OTEL_SDK_DISABLED": "true"}, ""),
        ({"OTEL_SERVICE_NAME": "x"}, ""),
        ({"OTEL_TRACES_EXPORTER": "console"}, "OTEL_TRACES_EXPORTER=console: kotef sends traces as otlp only"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "OTEL_EXPORTER_OTLP_PROTOCOL=grpc: kotef speaks http/protobuf only",
        ),
    ],
)
def test_nothing_is_sent_unless_the_environment_asks_for_what_kotef_can(env: dict, said: str) -> None:
    wish = sending.wish(env)
    assert wish.endpoint == ""
    assert said in wish.refused
    assert bool(said) == bool(wish.refused)


@pytest.mark.parametrize(
    ("env", "endpoint", "content"),
    [
        ({"OTEL_TRACES_EXPORTER": "otlp"}, "http://localhost:4318", False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "https://u:p@h:1/x?y=z"}, "https://h:1", False),
        (
            {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t:1/v1/traces", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:1"},
            "http://t:1",
            False,
        ),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY"},
            "http://localhost:4318",
            True,
        ),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "NO_CONTENT"},
            "http://localhost:4318",
            False,
        ),
    ],
)
def test_the_standard_variables_say_where_and_what(env: dict, endpoint: str, content: bool) -> None:
    assert sending.wish(env) == (endpoint, content, "")


@pytest.mark.examples(1)
@pytest.mark.parametrize("missing", ["", ".exporter.otlp.proto.http.trace_exporter", ".sdk.trace.export"])
def test_without_the_extra_one_notice_says_how_to_get_it(
    project: Path, run, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, f"opentelemetry{missing}", None)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    ran = run(project, Agent(), "make add add", "--check", CHECK, "--coder", "fixers")
    said = [notice for notice in ran.result["notices"] if "OTEL_EXPORTER_OTLP_ENDPOINT" in notice]
    assert said == [
        "OTEL_EXPORTER_OTLP_ENDPOINT is set, but traces need an extra that is not installed: pip install 'kotef[otel]'"
    ]


@pytest.mark.examples(2)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT=http://me:pa55word@[::1:4318", "OTEL_EXPORTER_OTLP_ENDPOINT=http://[::1:4318: "),
        ("OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318", "OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318: "),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://h:x/", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://h:x/: "),
        ("OTEL_BSP_MAX_QUEUE_SIZE=100", "max_queue_size"),
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=x", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"),
    ],
)
def test_a_variable_that_cannot_be_used_costs_the_trace_and_not_the_run(
    project: Path, run, monkeypatch: pytest.MonkeyPatch, given: str, said: str
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv(*given.split("=", 1))
    ran = run(project, Agent(), "make add add", "--check", CHECK, "--coder", "fixers", "--max-attempts", "1")
    assert ran.code == 3
    [notice] = [notice for notice in ran.result["notices"] if "traces" in notice]
    assert said in notice
    assert "no traces are sent" in notice
    assert "pa55word" not in notice
