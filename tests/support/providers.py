"""Rules servers: one for each provider, that refuses what the real one refuses and answers as it answers.

    with ProviderServer(PROVIDERS["deepseek"], ProviderModel()) as server:
        ...

Each rule has the address where its provider documents it, or where the refusal stands word for word. A refusal uses up no
turn of the model. The model behind it is always the same: asked for a plan it gives one in whatever form was asked for,
asked to edit it looks at `calc.py`, mends it and says so.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final

from support.openai_server import Call, OpenAIServer, Reply, Request, call, calls, status, text

Refuses = Callable[[Request], Reply | None]


@dataclass(frozen=True)
class Rule:
    """One thing a provider refuses."""

    what: str
    source: str
    """Where it is said."""
    refuses: Refuses


@dataclass(frozen=True)
class Provider:
    """How one provider answers, and what it refuses."""

    name: str
    rules: tuple[Rule, ...]
    answers: Callable[[Reply, Request, int], Reply] = lambda reply, _, __: reply
    """What it makes of the model's reply."""
    headers: dict[str, str] = field(default_factory=dict)
    """In each of its answers."""
    choice: str = "obeyed"
    """What it makes of `tool_choice`: `obeyed`, `ignored`, or `strings` (an object is ignored)."""
    formats: frozenset[str] = frozenset({"json_schema", "json_object"})
    """Forms of `response_format` that it obeys; others it ignores."""
    slip: Reply | None = None
    """What it says, once, in place of the first call of the coder, which it could not read."""
    models: tuple[str, ...] = ("scripted",)
    settings: str = ""
    """What a user has to write into the configuration for it, as TOML."""


# What requests say


def assistants(request: Request) -> list[dict[str, Any]]:
    """The model's own messages in a request."""
    return [message for message in request.messages if message["role"] == "assistant"]


def with_calls(request: Request) -> list[dict[str, Any]]:
    """Those that call a tool."""
    return [message for message in assistants(request) if message.get("tool_calls")]


def chosen(request: Request) -> str:
    """The form of `tool_choice`: `named`, the word itself, or empty."""
    choice = request.body.get("tool_choice")
    return "named" if isinstance(choice, dict) else choice or ""


def format_of(request: Request) -> str:
    """The type of `response_format`; empty without one."""
    return (request.body.get("response_format") or {}).get("type", "")


def refused(message: str, http: int = 400, **error: Any) -> Reply:
    """A refusal in OpenAI's form."""
    return status(http, message, **({"type": "invalid_request_error"} | error))


def raw(code: int, body: Any) -> Reply:
    """A refusal in a form of its own."""
    return Reply(status=code, body=json.dumps(body))


def missing_field(name: str, message: str) -> Refuses:
    """A message with calls that lacks a field."""

    def refuses(request: Request) -> Reply | None:
        for place, one in enumerate(request.messages):
            if one["role"] == "assistant" and one.get("tool_calls") and not isinstance(one.get(name), str):
                return refused(message.format(place=place))
        return None

    return refuses


def extra_in_messages(allowed: set[str], refusal: Callable[[int, str], Reply]) -> Refuses:
    """A field of an assistant message that is not in the documentation."""

    def refuses(request: Request) -> Reply | None:
        known = {"role", "content", "tool_calls", "name", "refusal"} | allowed
        for place, one in enumerate(request.messages):
            extra = sorted(one.keys() - known) if one["role"] == "assistant" else []
            if extra:
                return refusal(place, extra[0])
        return None

    return refuses


def extra_parameters(allowed: set[str], refusal: Callable[[str], Reply]) -> Refuses:
    """A parameter that is not in the documentation."""

    def refuses(request: Request) -> Reply | None:
        known = {"model", "messages", "tools", "tool_choice", "stream", "response_format"} | allowed
        extra = sorted(request.body.keys() - known)
        return refusal(extra[0]) if extra else None

    return refuses


def choices(forms: set[str], refusal: Callable[[str], Reply]) -> Refuses:
    """A form of `tool_choice` that is not taken."""
    return lambda request: refusal(chosen(request)) if chosen(request) in forms else None


def formats(types: set[str], refusal: Callable[[str], Reply]) -> Refuses:
    """A response format that is not taken."""
    return lambda request: refusal(format_of(request)) if format_of(request) in types else None


def value_of(name: str, refusal: Callable[[Any], Reply | None]) -> Refuses:
    """A value of a parameter that is not taken."""
    return lambda request: refusal(request.body[name]) if name in request.body else None


def json_unmentioned(request: Request) -> Reply | None:
    """JSON mode without the word."""
    if format_of(request) != "json_object" or "json" in request.text.casefold():
        return None
    return refused(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
    )


def too_long(window: int, refusal: Callable[[int, int], Reply]) -> Refuses:
    """A request of more than `window` tokens, four characters each."""

    def refuses(request: Request) -> Reply | None:
        tokens = len(json.dumps([request.messages, request.body.get("tools")])) // 4
        return refusal(tokens, window) if tokens > window else None

    return refuses


# How answers look


def thinking(name: str) -> Callable[[Reply, Request, int], Reply]:
    """An answer with reasoning in a field of that name."""
    return lambda reply, _, __: replace(reply, fields={name: "I have to look at the file first."} | reply.fields)


def signed(reply: Reply, request: Request, number: int) -> Reply:
    """Gemini's answer: the first call of each carries a signature."""
    signature = {"extra_content": {"google": {"thought_signature": f"sig-{number}"}}}
    made = [replace(one, fields=signature if not place else {}) for place, one in enumerate(reply.calls)]
    return replace(reply, calls=tuple(made))


def unsigned(request: Request) -> Reply | None:
    """A call that goes back to Gemini without its signature."""
    for message in with_calls(request):
        first = message["tool_calls"][0]
        if not first.get("extra_content", {}).get("google", {}).get("thought_signature"):
            told = (
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
                f"correctly. Additional data, function call `default_api:{first['function']['name']}`, position 2."
            )
            return raw(400, [{"error": {"code": 400, "message": told, "status": "INVALID_ARGUMENT"}}])
    return None


def in_parts(reply: Reply, request: Request, number: int) -> Reply:
    """Mistral's answer: content as a list whose first part is thinking, and ids of nine characters."""
    said = [{"type": "text", "text": reply.content}] if reply.content else []
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "let me see"}]}
    made = [replace(one, id=f"Ab{number:03d}{place:04d}") for place, one in enumerate(reply.calls)]
    return replace(reply, content=None, calls=tuple(made), fields={"content": [thought, *said]}, stream=False)


def badly_named(request: Request) -> Reply | None:
    """An id of a call that Mistral does not take."""
    ids = [one["id"] for message in with_calls(request) for one in message["tool_calls"]]
    ids += [message["tool_call_id"] for message in request.messages if message["role"] == "tool"]
    for one in ids:
        if not re.fullmatch(r"[a-zA-Z0-9]{9}", one):
            told = f"Tool call id was {one} but must be a-z, A-Z, 0-9, with a length of 9."
            return raw(400, {"object": "error", "message": told, "type": "invalid_function_call", "code": "3280"})
    return None


def out_of_order(request: Request) -> Reply | None:
    """A person's message after the result of a tool."""
    roles = [message["role"] for message in request.messages]
    if ("tool", "user") not in pairwise(roles):
        return None
    told = "Unexpected role 'user' after role 'tool'"
    return raw(400, {"object": "error", "message": told, "type": "invalid_request_message_order", "code": "3230"})


def forbidden(*where: Any) -> Reply:
    """Mistral's refusal of something it does not know."""
    detail = [
        {"type": "extra_forbidden", "loc": ["body", *where], "msg": "Extra inputs are not permitted", "input": "x"}
    ]
    return raw(422, {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error", "code": None})


def details(reply: Reply, request: Request, number: int) -> Reply:
    """OpenRouter's answer, with what the provider behind it needs back."""
    detail = {
        "type": "reasoning.encrypted",
        "data": f"gAAA{number}",
        "id": f"rs_{number}",
        "format": "openai",
        "index": 0,
    }
    return replace(reply, fields={"reasoning": "hm", "reasoning_details": [detail]})


def no_details(request: Request) -> Reply | None:
    """A message that goes back to OpenRouter without them."""
    if all(message.get("reasoning_details") for message in with_calls(request)):
        return None
    return raw(400, {"error": {"message": "Provider returned error: reasoning_details required", "code": 400}})


def usage_in_choice(reply: Reply, request: Request, number: int) -> Reply:
    """Moonshot's answer: reasoning, and usage inside the choice."""
    return replace(thinking("reasoning_content")(reply, request, number), usage_in="choice")


def routed(message: str) -> Reply:
    """OpenRouter's 404."""
    more = "To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing"
    return raw(404, {"error": {"message": f"{message} {more}", "code": 404}})


def unknown_name(name: str) -> Reply:
    """Gemini's refusal of a field."""
    told = f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
    details = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"description": told}]}]
    return raw(400, [{"error": {"code": 400, "message": told, "status": "INVALID_ARGUMENT", "details": details}}])


def unsupported(name: str) -> Reply:
    """OpenAI's refusal of a parameter."""
    told = f"Unsupported parameter: '{name}' is not supported with this model."
    return refused(told, param=name, code="unsupported_parameter")


SAMPLING: Final = {"temperature", "top_p", "max_tokens", "stop", "seed", "n"}
STANDARD: Final = SAMPLING | {"stream_options", "parallel_tool_calls", "reasoning_effort", "max_completion_tokens"}

OPENAI_DOCS: Final = "https://platform.openai.com/docs/api-reference/chat/create"
DEEPSEEK_DOCS: Final = "https://api-docs.deepseek.com/guides/thinking_mode"
LLAMA_ISSUE: Final = "https://github.com/ggml-org/llama.cpp/issues/22072"


def _slip_of_groq() -> Reply:
    told = "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details."
    wrote = '<function=view_file{"path": "calc.py"}</function>'
    return refused(told, code="tool_use_failed", failed_generation=wrote)


def _slip_of_llama() -> Reply:
    told = (
        "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1, column 74: "
        "syntax error while parsing value - unexpected end of input"
    )
    return raw(500, {"error": {"code": 500, "message": told, "type": "server_error"}})


def _overflow_of_llama(tokens: int, window: int) -> Reply:
    told = f"request ({tokens} tokens) exceeds the available context size ({window} tokens), try increasing it"
    error = {
        "code": 400,
        "message": told,
        "type": "exceed_context_size_error",
        "n_prompt_tokens": tokens,
        "n_ctx": window,
    }
    return raw(400, {"error": error})


def _without_login(request: Request) -> Reply | None:
    if request.headers.get("api-key") != "azure-secret-0123456789" or "authorization" in request.headers:
        return raw(401, {"error": {"code": "401", "message": "Access denied due to invalid subscription key"}})
    if "api-version=2024-10-21" not in request.query:
        return raw(404, {"error": {"code": "404", "message": "Resource not found"}})
    return None


PROVIDERS: Final[dict[str, Provider]] = {
    one.name: one
    for one in (
        Provider(
            "openai",
            (
                Rule(
                    "a reasoning model takes no other temperature",
                    "https://github.com/QwenLM/qwen-code/issues/921",
                    value_of(
                        "temperature",
                        lambda value: refused(
                            f"Unsupported value: 'temperature' does not support {value} with this model. Only the default "
                            "(1) value is supported.",
                            param="temperature",
                            code="unsupported_value",
                        ),
                    ),
                ),
                Rule(
                    "it calls max_tokens otherwise",
                    "https://github.com/langgenius/dify/issues/9746",
                    value_of("max_tokens", lambda _: unsupported("max_tokens")),
                ),
                Rule("unknown parameters", OPENAI_DOCS, extra_parameters(STANDARD, unsupported)),
                Rule(
                    "unknown fields of messages",
                    OPENAI_DOCS,
                    extra_in_messages(
                        set(),
                        lambda place, name: refused(f"Unknown parameter: 'messages[{place}].{name}'.", param=name),
                    ),
                ),
            ),
            headers={"openai-version": "2020-10-01"},
            settings='[models."scripted"]\ntemperature = 0.2\ntop_k = 20\nmax_tokens = 4000\n',
        ),
        Provider(
            "azure",
            (
                Rule(
                    "a key in a header, a version in the query",
                    "https://learn.microsoft.com/azure/ai-services/openai/reference",
                    _without_login,
                ),
                Rule(
                    "older versions know no stream_options",
                    "https://github.com/openai/openai-python/issues/1724",
                    value_of(
                        "stream_options", lambda _: refused("Unrecognized request argument supplied: stream_options")
                    ),
                ),
            ),
            headers={"apim-request-id": "1"},
            settings='[models."scripted"]\nheaders = { api-key = "azure-secret-0123456789" }\nquery = { api-version = "2024-10-21" }\n',
        ),
        Provider(
            "anthropic",
            (
                Rule(
                    "no message without content",
                    "https://platform.claude.com/docs/en/api/openai-sdk",
                    lambda request: (
                        refused("messages: text content blocks must be non-empty")
                        if any(message.get("content") == "" for message in request.messages)
                        else None
                    ),
                ),
            ),
            formats=frozenset(),  # `response_format` is documented as ignored
            headers={"anthropic-organization-id": "1"},
        ),
        Provider(
            "gemini",
            (
                Rule(
                    "a signature with each turn's first call",
                    "https://ai.google.dev/gemini-api/docs/thought-signatures",
                    unsigned,
                ),
                Rule(
                    "unknown parameters",
                    "https://github.com/MinLL/SkyrimNet-GamePlugin/issues/77",
                    extra_parameters(STANDARD, unknown_name),
                ),
            ),
            answers=signed,
            models=("models/scripted", "models/gemini-3-pro"),
            settings='[models."scripted"]\ntop_k = 20\n',
        ),
        Provider(
            "deepseek",
            (
                Rule(
                    "reasoning_content has to come back with tool calls",
                    DEEPSEEK_DOCS,
                    missing_field(
                        "reasoning_content",
                        "Missing `reasoning_content` field in the assistant message at message index {place}. For more "
                        "information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
                    ),
                ),
                Rule(
                    "no forced call in thinking mode",
                    "https://github.com/BerriAI/litellm/pull/37470",
                    choices(
                        {"named", "required"}, lambda _: refused("Thinking mode does not support this tool_choice")
                    ),
                ),
                Rule(
                    "no json_schema",
                    "https://github.com/UKGovernmentBEIS/inspect_ai/issues/4916",
                    formats({"json_schema"}, lambda _: refused("This response_format type is unavailable now")),
                ),
                Rule(
                    "JSON mode has to be spoken of",
                    "https://github.com/browserbase/stagehand/issues/1204",
                    json_unmentioned,
                ),
            ),
            answers=thinking("reasoning_content"),
        ),
        Provider(
            "mistral",
            (
                Rule("ids of nine characters", "https://github.com/anomalyco/opencode/issues/1680", badly_named),
                Rule("no user after a tool", "https://github.com/avante-corp/avante.nvim/pull/2695", out_of_order),
                Rule(
                    "unknown parameters",
                    "https://github.com/editor-code-assistant/eca/issues/231",
                    extra_parameters(SAMPLING | {"stream_options"}, forbidden),
                ),
                Rule(
                    "unknown fields of messages",
                    "https://github.com/BerriAI/litellm/issues/30835",
                    extra_in_messages(set(), lambda place, name: forbidden("messages", place, "assistant", name)),
                ),
            ),
            answers=in_parts,
            headers={"mistral-correlation-id": "1"},
            settings='[models."scripted"]\nmax_tokens = 4000\n',
        ),
        Provider(
            "groq",
            (
                Rule(
                    "unknown fields of messages",
                    "https://github.com/NousResearch/hermes-agent/issues/11089",
                    extra_in_messages(
                        set(),
                        lambda place, name: refused(
                            f"'messages.{place}' : for 'role:assistant' the following must be satisfied[('messages.{place}' : "
                            f"property '{name}' is unsupported)]"
                        ),
                    ),
                ),
                Rule(
                    "json_schema for some models only",
                    "https://github.com/ItzCrazyKns/Vane/issues/980",
                    formats(
                        {"json_schema"}, lambda _: refused("This model does not support response format `json_schema`")
                    ),
                ),
            ),
            answers=thinking("reasoning"),
            slip=_slip_of_groq(),
            headers={"x-groq-region": "fra"},
        ),
        Provider(
            "openrouter",
            (
                Rule(
                    "a model without tool_choice",
                    "https://github.com/zed-industries/zed/issues/36094",
                    choices(
                        {"named", "required"},
                        lambda _: routed("No endpoints found that support the provided 'tool_choice' value."),
                    ),
                ),
                Rule(
                    "reasoning comes back as it was",
                    "https://openrouter.ai/docs/use-cases/reasoning-tokens",
                    no_details,
                ),
            ),
            answers=details,
        ),
        Provider(
            "openrouter-without-tools",
            (
                Rule(
                    "a model without tools",
                    "https://github.com/evalstate/fast-agent/issues/122",
                    lambda request: routed("No endpoints found that support tool use.") if request.tools else None,
                ),
            ),
        ),
        Provider(
            "together",
            (
                Rule(
                    "a window of its own words",
                    "https://docs.together.ai/docs/error-codes",
                    too_long(
                        8192,
                        lambda tokens, window: refused(
                            f"Input validation error: `inputs` tokens + `max_new_tokens` must be <= {window}. Given: {tokens}"
                        ),
                    ),
                ),
            ),
        ),
        Provider(
            "xai",
            (
                Rule(
                    "a model without reasoning_effort",
                    "https://github.com/BerriAI/litellm/pull/16265",
                    value_of(
                        "reasoning_effort",
                        lambda _: raw(
                            400,
                            {
                                "code": "Client specified an invalid argument",
                                "error": "Model grok-4-latest does not support parameter reasoningEffort.",
                            },
                        ),
                    ),
                ),
            ),
            answers=thinking("reasoning_content"),
            settings='[models."scripted"]\nreasoning_effort = "high"\n',
        ),
        Provider(
            "moonshot",
            (
                Rule(
                    "reasoning_content has to come back with tool calls",
                    "https://github.com/HKUDS/nanobot/pull/2008",
                    missing_field(
                        "reasoning_content",
                        "thinking is enabled but reasoning_content is missing in assistant tool call message at index {place}",
                    ),
                ),
                Rule(
                    "no forced call in thinking mode",
                    "https://github.com/can1357/oh-my-pi/issues/1077",
                    choices(
                        {"named", "required"},
                        lambda form: refused(
                            f"tool_choice '{'specified' if form == 'named' else form}' is incompatible with thinking enabled"
                        ),
                    ),
                ),
                Rule(
                    "one temperature",
                    "https://github.com/HKUDS/nanobot/pull/202",
                    value_of("temperature", lambda _: refused("invalid temperature: only 1 is allowed for this model")),
                ),
            ),
            answers=usage_in_choice,
            settings='[models."scripted"]\ntemperature = 0.3\n',
        ),
        Provider(
            "dashscope",
            (
                Rule(
                    "no forced call in thinking mode",
                    "https://github.com/QwenLM/qwen-code/issues/7659",
                    choices(
                        {"named", "required"},
                        lambda _: refused(
                            "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to "
                            "required or object in thinking mode",
                            code="invalid_parameter_error",
                        ),
                    ),
                ),
                Rule("JSON mode has to be spoken of", "https://github.com/agno-agi/agno/pull/5317", json_unmentioned),
            ),
            answers=thinking("reasoning_content"),
        ),
        Provider(
            "vllm",
            (
                Rule(
                    "tools only with a parser",
                    "https://github.com/vllm-project/vllm/issues/9986",
                    lambda request: (
                        refused(
                            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
                        )
                        if request.tools and chosen(request) in {"", "auto"}
                        else None
                    ),
                ),
            ),
            answers=thinking("reasoning"),
        ),
        Provider("sglang", (), answers=thinking("reasoning_content")),
        Provider(
            "llama.cpp",
            (
                Rule(
                    "a window of 4,096 tokens",
                    "https://github.com/ggml-org/llama.cpp/pull/15780",
                    too_long(4096, _overflow_of_llama),
                ),
            ),
            slip=_slip_of_llama(),
            choice="strings",  # https://github.com/ggml-org/llama.cpp/issues/26535
            headers={"Server": "llama.cpp"},
        ),
        Provider(
            "ollama",
            (),
            choice="ignored",  # https://github.com/ollama/ollama/issues/17921
            answers=lambda reply, _, __: replace(reply, fingerprint="fp_ollama", stream=False),
        ),
        Provider(
            "ollama-without-tools",
            (
                Rule(
                    "a model whose template has no tools",
                    "https://github.com/ollama/ollama/issues/5793",
                    lambda request: (
                        refused("llama3 does not support tools", type="api_error") if request.tools else None
                    ),
                ),
            ),
            choice="ignored",
        ),
        Provider(
            "lmstudio",
            (
                Rule(
                    "tool_choice is a word",
                    "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670",
                    choices(
                        {"named"},
                        lambda _: raw(
                            400,
                            {
                                "error": "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"
                            },
                        ),
                    ),
                ),
                Rule(
                    "no json_object",
                    "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/189",
                    formats(
                        {"json_object"},
                        lambda _: raw(400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}),
                    ),
                ),
            ),
        ),
        Provider(
            "litellm",
            (
                Rule(
                    "it knows what the model behind it takes",
                    "https://github.com/BerriAI/litellm/issues/35382",
                    choices(
                        {"named", "required", "none"},
                        lambda _: refused(
                            "litellm.UnsupportedParamsError: fireworks_ai does not support parameters: ['tool_choice'], for "
                            "model=accounts/fireworks/models/kimi-k3. To drop these, set `litellm.drop_params=True`",
                            code="400",
                        ),
                    ),
                ),
                Rule(
                    "no other temperature while it reasons",
                    "https://github.com/BerriAI/litellm/pull/33738",
                    value_of(
                        "temperature",
                        lambda value: refused(
                            f"litellm.UnsupportedParamsError: gpt-5-nano doesn't support temperature={value} while reasoning is "
                            "active. To drop unsupported params set `litellm.drop_params = True`.",
                            code="400",
                        ),
                    ),
                ),
            ),
            answers=lambda reply, _, number: replace(
                reply, fields={"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": f"s{number}"}]}
            ),
            headers={"x-litellm-version": "1.90.0"},
            settings='[models."scripted"]\ntemperature = 0.1\n',
        ),
    )
}


PLAN: Final = {
    "hypothesis": "add subtracts",
    "steps": [{"description": "add instead of subtracting", "files": ["calc.py"], "addresses": ""}],
    "blocked": "",
}
LOOK: Final = call("view_file", path="calc.py")
MEND: Final = call("edit_file", path="calc.py", edits=[{"search": "a - b", "replace": "a + b"}])


@dataclass
class ProviderModel:
    """A model that plans and edits as it is asked to; without a form that binds it, it answers in words first."""

    turns: Sequence[Call] = (LOOK, MEND)
    dies_after: int | None = None
    """The endpoint is gone from that turn of the coder on."""
    plans: int = 0
    """Questions for a plan."""

    def reply(self, request: Request, provider: Provider) -> Reply:
        """Its answer, before the provider makes something of it."""
        if "You plan; another agent edits" in request.text:
            self.plans += 1
            return self._plan(request, provider)
        done = sum(message["role"] == "tool" for message in request.messages) + request.text.count("<tool_response>")
        if self.dies_after is not None and done + 1 >= self.dies_after:
            return status(401, "the key has been revoked")
        if done >= len(self.turns):
            return text("`add` adds now.")
        turn = self.turns[done]
        if request.tools:
            return calls(turn)
        return text(f"<tool_call>\n{json.dumps({'name': turn.name, 'arguments': turn.arguments})}\n</tool_call>")

    def _plan(self, request: Request, provider: Provider) -> Reply:
        obeyed = {"obeyed": {"named", "required"}, "strings": {"required"}, "ignored": set()}[provider.choice]
        if "PlanAnswer" in request.tools and chosen(request) in obeyed:
            return calls(call("PlanAnswer", **PLAN))
        if format_of(request) in provider.formats or "JSON schema" in request.text:
            return text(json.dumps(PLAN))
        return text("First I would look at `add`, which seems to subtract.")


class ProviderServer(OpenAIServer):
    """A server with the rules of a provider, and a model behind it."""

    def __init__(self, provider: Provider, model: ProviderModel | None = None) -> None:
        """A refusal is recorded in `refusals`, with the rule that made it."""
        super().__init__(models=provider.models)
        self.provider = provider
        self.model = model or ProviderModel()
        self.refusals: list[str] = []
        self.slipped = False

    def reply_to(self, request: Request) -> Reply:
        """What the provider answers."""
        number = len(self.requests)
        self.requests.append(request)
        for rule in self.provider.rules:
            refusal = rule.refuses(request)
            if refusal is not None:
                self.refusals.append(rule.what)
                return replace(refusal, headers=self.provider.headers)
        if self.provider.slip is not None and "view_file" in request.tools and not self.slipped:
            self.slipped = True
            return replace(self.provider.slip, headers=self.provider.headers)
        reply = self.provider.answers(self.model.reply(request, self.provider), request, number)
        return replace(reply, headers=self.provider.headers)
