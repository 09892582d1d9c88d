"""What is learnt of a refusal, in the words that providers really use, and what never is."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.providers import PROVIDERS

from kotef.models.dialects import BY_NAME, DIALECTS, GENERAL, dialect_of_url, dialect_of_words
from kotef.models.endpoint_memory import EndpointMemories, EndpointMemory
from kotef.models.refusals import Refusal, RefusedRequest, learn, slip_in

TOOL = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Looks.",
        "parameters": {
            "type": "object",
            "properties": {"title": {"type": "string", "minLength": 1, "title": "Title"}},
            "additionalProperties": False,
        },
    },
}
CALL = {"id": "call_0123456789", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def request(**more: Any) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You code."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "hm"},
        {"role": "tool", "tool_call_id": CALL["id"], "content": "ok"},
        {"role": "user", "content": "a note"},
    ]
    return {"model": "m", "messages": messages, "tools": [TOOL], "stream": True, "stream_options": {}} | more


def taught(
    body: Any, *, status: int = 400, forced: bool = False, **more: Any
) -> tuple[str, EndpointMemory, dict[str, Any]]:
    """The lesson, the memory with it, and the next request."""
    memory, asked = EndpointMemory(), request(**more)
    lesson = learn(RefusedRequest(memory, Refusal(status, body), memory.fitted(asked), forced))
    return lesson, memory, memory.fitted(asked)


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None} | more}


@pytest.mark.parametrize(
    ("message", "name", "more"),
    [
        (
            "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
            "temperature",
            {"param": "temperature"},
        ),
        ("invalid temperature: only 1 is allowed for this model", "temperature", {}),
        ("Unrecognized request argument supplied: stream_options", "stream_options", {}),
        ("Model grok-4-latest does not support parameter reasoningEffort.", "reasoning_effort", {}),
        ("property 'seed' is unsupported, did you mean 'stop'?", "seed", {}),
        ("cannot specify both 'thinking' and 'reasoning_effort'", "reasoning_effort", {}),
        ('Invalid JSON payload received. Unknown name "top_k": Cannot find field.', "top_k", {}),
        (
            "litellm.UnsupportedParamsError: gpt-5-nano doesn't support temperature=0.1 while reasoning is active.",
            "temperature",
            {},
        ),
        ("Argument not supported on this model: frequencyPenalty", "frequency_penalty", {}),
        ("fireworks_ai does not support parameters: ['min_p'], for model=x", "min_p", {}),
    ],
)
def test_a_parameter_that_is_named_is_left_out(message: str, name: str, more: dict[str, Any]) -> None:
    lesson, _, after = taught(error(message, **more), **{name: 0.2}, top_p=0.9)
    assert lesson == f"{name} is left out"
    assert name not in after
    assert after["top_p"] == 0.9, "nothing else is"


@pytest.mark.parametrize("where", [["body", "max_completion_tokens"], ["body", "seed"]])
def test_pydantics_words_name_it_by_its_place(where: list[str]) -> None:
    detail = [{"type": "extra_forbidden", "loc": where, "msg": "Extra inputs are not permitted", "input": 5}]
    lesson, _, after = taught({"object": "error", "message": {"detail": detail}}, status=422, **{where[1]: 5})
    assert where[1] in lesson
    assert where[1] not in after


def test_a_parameter_with_another_name_is_called_that_before_it_is_left_out() -> None:
    memory = EndpointMemory()
    for expected in ({"max_completion_tokens": 9}, {}):
        asked = memory.fitted(request(max_tokens=9))
        named = next(name for name in asked if "max" in name)
        assert learn(
            RefusedRequest(memory, Refusal(400, error(f"Unsupported parameter: '{named}'", param=named)), asked, False)
        )
        after = memory.fitted(request(max_tokens=9))
        assert {name: value for name, value in after.items() if "max" in name} == expected


@pytest.mark.parametrize(
    "body",
    [
        error(
            "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]"
        ),
        error("Unknown parameter: 'messages[2].reasoning_content'."),
        {
            "message": {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "messages", 2, "assistant", "reasoning_content"],
                        "msg": "Extra inputs are not permitted",
                    }
                ]
            }
        },
        error("Additional properties are not allowed ('reasoning_content' was unexpected) - 'messages.2'"),
        error("Invalid request."),
    ],
)
def test_a_field_of_a_message_that_is_refused_is_not_sent_back(body: Any) -> None:
    lesson, _, after = taught(body)
    assert lesson
    assert "reasoning_content" not in after["messages"][2]
    assert after["messages"][2]["tool_calls"] == [CALL]


@pytest.mark.parametrize(
    "message",
    [
        "Missing `reasoning_content` field in the assistant message at message index 2.",
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
    ],
)
def test_a_field_that_is_missed_is_sent_with_every_call(message: str) -> None:
    asked = request()
    del asked["messages"][2]["reasoning_content"]
    _, _, after = taught(error(message), messages=asked["messages"])
    assert after["messages"][2]["reasoning_content"] == ""
    assert "reasoning_content" not in asked["messages"][2], "the conversation itself stays"


def test_what_was_not_sent_back_is_sent_once_it_is_missed() -> None:
    memory = EndpointMemory()
    for message in ("property 'reasoning_content' is unsupported in messages.2", "Missing `reasoning_content` field"):
        assert learn(RefusedRequest(memory, Refusal(400, error(message)), memory.fitted(request()), False))
    assert memory.fitted(request())["messages"][2]["reasoning_content"] == "hm"
    again = Refusal(400, error("property 'reasoning_content' is unsupported in messages.2"))
    assert not learn(RefusedRequest(memory, again, memory.fitted(request()), False)), "it does not go in circles"


def test_ids_get_the_form_that_is_wanted_and_stay_pairs() -> None:
    _, _, after = taught(error("Tool call id was call_0123456789 but must be a-z, A-Z, 0-9, with a length of 9."))
    made = after["messages"][2]["tool_calls"][0]["id"]
    assert (len(made), made.isalnum()) == (9, True)
    assert after["messages"][3]["tool_call_id"] == made


def test_a_call_without_a_signature_gets_the_documented_substitute() -> None:
    _, _, after = taught([error("Function call is missing a thought_signature in functionCall parts.")])
    signature = after["messages"][2]["tool_calls"][0]["extra_content"]["google"]["thought_signature"]
    assert signature == "skip_thought_signature_validator"


def test_a_note_after_a_result_becomes_a_part_of_it() -> None:
    _, _, after = taught(error("Unexpected role 'user' after role 'tool'"))
    assert [message["role"] for message in after["messages"]] == ["system", "user", "assistant", "tool"]
    assert after["messages"][-1]["content"] == "ok\n\na note"


NAMED = {"type": "function", "function": {"name": "look"}}


@pytest.mark.parametrize(
    ("message", "forms"),
    [
        ("Invalid tool_choice type: 'object'. Supported string values: none, auto, required", ["required"]),
        ("No endpoints found that support the provided 'tool_choice' value.", ["required", None]),
        ("Thinking mode does not support this tool_choice", [None]),
        ("tool_choice 'specified' is incompatible with thinking enabled", [None]),
    ],
)
def test_tool_choice_goes_from_the_strictest_form_to_none(message: str, forms: list[str | None]) -> None:
    memory = EndpointMemory()
    for form in forms:
        refused = RefusedRequest(memory, Refusal(404, error(message)), memory.fitted(request(tool_choice=NAMED)), True)
        assert learn(refused)
        assert memory.fitted(request(tool_choice=NAMED)).get("tool_choice") == form


@pytest.mark.parametrize(
    "message",
    [
        "No endpoints found that support tool use.",
        "llama3 does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "tools param requires --jinja flag",
        "together_ai does not support parameters: {'tools': [{'type': 'function'}]}",
    ],
)
def test_tools_that_are_not_taken_are_described_in_words(message: str) -> None:
    _, _, after = taught(error(message))
    assert "tools" not in after
    system, _, said, result = after["messages"]
    assert '"name": "look"' in system["content"]
    assert said == {"role": "assistant", "content": '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>'}
    assert result["content"] == "<tool_response>\nok\n</tool_response>\n\na note"
    lesson, _, _ = taught(error(message), forced=True, tool_choice=NAMED)
    assert "words" not in lesson, "a question for one value has other ways"


def test_a_keyword_of_a_schema_that_is_not_known_is_left_out_of_schemas_alone() -> None:
    told = "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters': Cannot find field."
    _, _, after = taught([{"error": {"code": 400, "message": told}}])
    parameters = after["tools"][0]["function"]["parameters"]
    assert "additionalProperties" not in parameters
    assert parameters["properties"]["title"]["title"] == "Title"
    assert "additionalProperties" in TOOL["function"]["parameters"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "Unsupported parameter: 'temperature'"),
        (429, "Unsupported parameter: 'temperature'"),
        (503, "Unsupported parameter: 'temperature'"),
        (400, "Your account is not allowed to use this model; the user must be verified"),
        (500, "an internal error at temperature control"),
    ],
)
def test_what_does_not_speak_of_the_request_teaches_nothing(status: int, message: str) -> None:
    memory, asked = EndpointMemory(bare=True), request(temperature=0.1, user="me")
    assert not learn(RefusedRequest(memory, Refusal(status, error(message)), asked, False))
    assert memory.fitted(asked)["temperature"] == 0.1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    JSON,
    st.sampled_from([400, 404, 422, 500]),
    st.sampled_from(["", "messages", "temperature", "tool_choice", "unsupported"]),
)
def test_no_refusal_is_too_strange_and_none_teaches_without_end(body: Any, status: int, word: str) -> None:
    memory, asked = EndpointMemory(), request(temperature=0.1, tool_choice=NAMED)
    lessons = 0
    while learn(RefusedRequest(memory, Refusal(status, [word, body]), memory.fitted(asked), True)):
        lessons += 1
        assert lessons <= 16
    sent = memory.fitted(asked)
    assert {"model", "messages"} <= sent.keys()
    json.dumps(sent)
    slip_in(Refusal(status, body))


def test_a_slip_is_told_apart_and_says_what_the_model_wrote() -> None:
    groq = error("Failed to call a function.", code="tool_use_failed", failed_generation="<function=look{}>")
    assert slip_in(Refusal(400, groq)) == "<function=look{}>"
    assert slip_in(Refusal(500, error("Failed to parse tool call arguments as JSON: [json.exception…"))) == ""
    assert slip_in(Refusal(400, error("bad request"))) is None


# Dialects


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.deepseek.com", "deepseek"),
        ("https://generativelanguage.googleapis.com/v1beta/openai/", "gemini"),
        ("https://mine.openai.azure.com/openai/deployments/x", "azure"),
        ("http://localhost:11434/v1", "ollama"),
        ("https://llm.example.org/v1", GENERAL.name),
        ("https://evilapi.openai.com.example.org/v1", GENERAL.name),
        ("http://[", GENERAL.name),
    ],
)
def test_the_host_is_a_hint(url: str, name: str) -> None:
    assert dialect_of_url(url).name == name


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ({"Server": "llama.cpp"}, "llama.cpp"),
        ({"server": "uvicorn", "x-groq-region": "fra"}, "groq"),
        ({"system_fingerprint": "fp_ollama"}, "ollama"),
        ({"x-litellm-version": "1", "x-groq-region": "fra"}, "litellm"),
        ({"server": "nginx"}, None),
    ],
)
def test_what_the_server_says_of_itself_goes_before_the_hint(words: dict[str, str], name: str | None) -> None:
    found = dialect_of_words(words)
    assert (found.name if found else None) == name
    memory = EndpointMemories().of("https://api.deepseek.com", "m")
    memory.hear(words)
    assert memory.dialect.name == (name or "deepseek")


def test_nothing_goes_before_the_user() -> None:
    memory = EndpointMemories().of("http://localhost:11434/v1", "m", "vllm")
    memory.hear({"Server": "llama.cpp"})
    assert memory.dialect.name == "vllm"


def test_models_of_a_run_share_what_is_learnt_of_one_endpoint() -> None:
    memories = EndpointMemories()
    memories.of("http://a/v1", "m").without.add("temperature")
    assert "temperature" in memories.of("http://a/v1/", "m").without
    assert not memories.of("http://a/v1", "other").without


@pytest.mark.parametrize("row", DIALECTS, ids=lambda row: row.name)
def test_each_row_says_where_it_is_written(row: Any) -> None:
    assert row.sources
    assert all(source.startswith("https://") for source in row.sources)


def test_each_dialect_has_a_rules_server() -> None:
    assert {row.name for row in DIALECTS} <= PROVIDERS.keys()
    assert GENERAL.name in BY_NAME
