"""The dialects of OpenAI's chat API that providers and servers speak, as data.

A row says what its provider documents or its maintainers say; `sources` are the addresses. It is chosen by the user, by
what the server says of itself (`marks`), or, until it has said anything, by the host of the base URL; never by the name
of a model. What a row does not know is learnt from the endpoint (`endpoint_memory`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

Rung = Literal["function_calling", "json_schema", "json_mode", "text"]
"""A way to ask for a value of a schema."""

LADDER: Final[tuple[Rung, ...]] = ("function_calling", "json_schema", "json_mode", "text")
"""Ways to ask, the most reliable first, where nothing else is known."""

ChoiceForm = Literal["named", "required", "auto"]
"""A way to ask for one call: the tool's name, any tool, or nothing and hope."""

FORMS: Final[tuple[ChoiceForm, ...]] = ("named", "required", "auto")

REASONING: Final = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
"""Fields of a message in which servers send reasoning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What one provider or server does differently."""

    name: str
    sources: tuple[str, ...] = ()
    """Where it is said."""
    hosts: tuple[str, ...] = ()
    """Ends of the host of its base URL, or `:port`: a hint until the server has spoken."""
    marks: tuple[str, ...] = ()
    """Beginnings of `header: value`, `system_fingerprint: …` or `owned_by: …` in its answers, in lower case."""
    proxy: bool = False
    """Whether it speaks for other providers, whose headers it may pass on."""
    never: tuple[str, ...] = ()
    """Fields of its messages that it refuses to have back; whatever else it added is sent back."""
    tool_choice: tuple[ChoiceForm, ...] = FORMS
    """Forms it obeys or takes, the strictest first."""
    structured: tuple[Rung, ...] = LADDER
    """Ways to ask for JSON, in the order that works."""
    alternates: bool = False
    """Whether a person's message may follow neither another one nor the result of a tool."""
    call_id: str = ""
    """A pattern that ids of calls must match; empty: any."""
    overflow: tuple[str, ...] = ()
    """Patterns of its words for a request that is longer than the window."""
    window: tuple[str, ...] = ()
    """Patterns of the window's size, in tokens, in those words."""
    slips: tuple[str, ...] = ()
    """Patterns of its words for an answer of the model that it could not read: not a fault of the request."""
    usage: tuple[tuple[str, ...], ...] = ()
    """Where it puts the usage besides `usage`, as a path into a chunk; `choices` means the first of them."""
    cached: tuple[tuple[str, ...], ...] = ()
    """Where the usage has tokens read from a cache besides `prompt_tokens_details.cached_tokens`."""


GENERAL: Final = Dialect(
    name="openai-compatible",
    overflow=(
        r"maximum context length",
        r"maximum model length",
        r"model's context length",
        r"exceeds? (?:the )?(?:available )?(?:model )?context (?:size|length|window)",
        r"input length exceeds",
        r"too long to fit into the model",
        r"greater than the context length",
        r"prompt is too long",
    ),
    window=(r"n_ctx\W{0,5}(\d{3,8})", r"context (?:length|size|window) (?:is|of) (?:only )?(\d{3,8})"),
)
"""What is tried with an endpoint of which nothing is known."""

DIALECTS: Final[tuple[Dialect, ...]] = (
    Dialect(
        name="openai",
        sources=(
            "https://platform.openai.com/docs/api-reference/chat/create",
            "https://github.com/openai/codex/issues/1346",
            "https://github.com/openai/openai-openapi/issues/541",
            "https://github.com/QwenLM/qwen-code/issues/921",
        ),
        hosts=("api.openai.com",),
        marks=("openai-organization:", "openai-version:"),
        never=REASONING,
        overflow=(r"context_length_exceeded",),
    ),
    Dialect(
        name="azure",
        sources=(
            "https://learn.microsoft.com/azure/ai-services/openai/reference",
            "https://github.com/openai/openai-python/issues/1724",
        ),
        hosts=("openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"),
        marks=("apim-request-id:", "azureml-model-session:"),
        never=REASONING,
    ),
    Dialect(
        name="anthropic",
        sources=("https://platform.claude.com/docs/en/api/openai-sdk",),
        hosts=("api.anthropic.com",),
        marks=("anthropic-organization-id:",),
        never=REASONING,
        structured=("function_calling", "text"),
        overflow=(r"input length and `max_tokens` exceed context limit",),
        window=(r"> (\d{3,8}) maximum",),
    ),
    Dialect(
        name="gemini",
        sources=(
            "https://ai.google.dev/gemini-api/docs/openai",
            "https://ai.google.dev/gemini-api/docs/thought-signatures",
            "https://github.com/openai/codex/issues/7519",
        ),
        hosts=("generativelanguage.googleapis.com", "aiplatform.googleapis.com"),
        overflow=(r"exceeds the maximum number of tokens",),
        window=(r"tokens allowed \((\d{3,8})\)",),
    ),
    Dialect(
        name="deepseek",
        sources=(
            "https://api-docs.deepseek.com/guides/thinking_mode",
            "https://github.com/cloudwego/eino/issues/994",
            "https://github.com/BerriAI/litellm/pull/37470",
        ),
        hosts=("api.deepseek.com",),
        structured=("function_calling", "json_mode", "text"),
        cached=(("prompt_cache_hit_tokens",),),
    ),
    Dialect(
        name="mistral",
        sources=(
            "https://docs.mistral.ai/api",
            "https://mistralai.github.io/mistral-common/usage/tools/",
            "https://github.com/anomalyco/opencode/issues/1680",
            "https://github.com/BerriAI/litellm/issues/30835",
            "https://github.com/avante-corp/avante.nvim/pull/2695",
        ),
        hosts=("api.mistral.ai",),
        marks=("mistral-correlation-id:",),
        never=REASONING,
        alternates=True,
        call_id=r"[a-zA-Z0-9]{9}",
        overflow=(r"too large for model with",),
        window=(r"with (\d{3,8}) maximum context length",),
    ),
    Dialect(
        name="groq",
        sources=(
            "https://console.groq.com/docs/tool-use",
            "https://console.groq.com/docs/errors",
            "https://github.com/NousResearch/hermes-agent/issues/11089",
            "https://github.com/huggingface/smolagents/issues/1119",
        ),
        hosts=("api.groq.com",),
        marks=("x-groq-region:",),
        never=REASONING,
        slips=(r"tool_use_failed", r"json_validate_failed"),
        usage=(("x_groq", "usage"),),
    ),
    Dialect(
        name="openrouter",
        sources=(
            "https://openrouter.ai/docs/use-cases/reasoning-tokens",
            "https://openrouter.ai/docs/guides/routing/provider-selection",
            "https://github.com/zed-industries/zed/issues/36094",
        ),
        hosts=("openrouter.ai",),
    ),
    Dialect(
        name="together",
        sources=(
            "https://docs.together.ai/docs/function-calling",
            "https://docs.together.ai/docs/error-codes",
        ),
        hosts=("api.together.xyz", "api.together.ai"),
        overflow=(r"inputs`? tokens \+ `?max_new_tokens`? must be <=",),
        window=(r"must be <= (\d{3,8})",),
    ),
    Dialect(
        name="xai",
        sources=(
            "https://docs.x.ai/developers/model-capabilities/text/reasoning",
            "https://github.com/BerriAI/litellm/pull/16265",
        ),
        hosts=("api.x.ai",),
        overflow=(r"maximum prompt length",),
        window=(r"maximum prompt length is (\d{3,8})",),
    ),
    Dialect(
        name="moonshot",
        sources=(
            "https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model",
            "https://github.com/can1357/oh-my-pi/issues/1077",
            "https://github.com/HKUDS/nanobot/pull/2008",
        ),
        hosts=("api.moonshot.ai", "api.moonshot.cn"),
        overflow=(r"exceeded model token limit",),
        window=(r"token limit: (\d{3,8})",),
        usage=(("choices", "usage"),),
        cached=(("cached_tokens",),),
    ),
    Dialect(
        name="dashscope",
        sources=(
            "https://help.aliyun.com/zh/model-studio/error-code",
            "https://github.com/QwenLM/qwen-code/issues/7659",
            "https://github.com/agno-agi/agno/pull/5317",
        ),
        hosts=("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"),
        overflow=(r"range of input length should be",),
        window=(r"range of input length should be \[\d+, ?(\d{3,8})\]",),
    ),
    Dialect(
        name="vllm",
        sources=(
            "https://docs.vllm.ai/en/latest/features/tool_calling.html",
            "https://github.com/vllm-project/vllm/issues/9986",
        ),
        marks=("owned_by: vllm",),
        window=(r"maximum context length is (\d{3,8})", r"maximum model length of (\d{3,8})"),
    ),
    Dialect(
        name="sglang",
        sources=("https://docs.sglang.ai/advanced_features/tool_parser.html",),
        marks=("owned_by: sglang",),
        window=(r"context length \((\d{3,8}) tokens\)",),
    ),
    Dialect(
        name="llama.cpp",
        sources=(
            "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
            "https://github.com/ggml-org/llama.cpp/issues/26535",
            "https://github.com/ggml-org/llama.cpp/pull/15780",
            "https://github.com/ggml-org/llama.cpp/issues/22072",
        ),
        marks=("server: llama.cpp", "owned_by: llamacpp"),
        tool_choice=("required", "auto"),
        structured=("json_schema", "function_calling", "json_mode", "text"),
        overflow=(r"exceed_context_size_error",),
        window=(r"available context size \((\d{3,8})",),
        slips=(r"failed to parse tool call arguments as json", r"failed to parse input at pos"),
    ),
    Dialect(
        name="ollama",
        sources=(
            "https://docs.ollama.com/api/openai-compatibility",
            "https://github.com/ollama/ollama/issues/17921",
            "https://github.com/ollama/ollama/issues/6027",
        ),
        hosts=(":11434",),
        marks=("system_fingerprint: fp_ollama",),
        tool_choice=("auto",),
        structured=("json_schema", "function_calling", "json_mode", "text"),
        overflow=(r"input length exceeds",),
        slips=(r"error parsing tool call",),
    ),
    Dialect(
        name="lmstudio",
        sources=(
            "https://lmstudio.ai/docs/developer/openai-compat/structured-output",
            "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670",
            "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/189",
        ),
        hosts=(":1234",),
        marks=("owned_by: organization_owner",),
        tool_choice=("required", "auto"),
        structured=("json_schema", "function_calling", "text"),
        overflow=(r"context (?:the )?overflows",),
        window=(r"context length of only (\d{3,8})",),
    ),
    Dialect(
        name="litellm",
        sources=(
            "https://docs.litellm.ai/docs/completion/drop_params",
            "https://github.com/BerriAI/litellm/pull/33738",
        ),
        marks=("x-litellm-",),
        proxy=True,
        overflow=(r"contextwindowexceedederror",),
    ),
)
"""Every dialect with something of its own."""

BY_NAME: Final[Mapping[str, Dialect]] = {row.name: row for row in (GENERAL, *DIALECTS)}


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(dict.fromkeys(patterns)), re.IGNORECASE)


OVERFLOW: Final = _any_of(tuple(pattern for row in BY_NAME.values() for pattern in row.overflow))
"""A request that is too long, in any server's words: a proxy hands on those of whoever is behind it."""
SLIP: Final = _any_of(tuple(pattern for row in BY_NAME.values() for pattern in row.slips))
"""An answer of the model that its server could not read, likewise."""
WINDOWS: Final = tuple(re.compile(rf"{pattern}\b", re.IGNORECASE) for row in BY_NAME.values() for pattern in row.window)
"""The window in those words, likewise."""
USAGE: Final = tuple(path for row in BY_NAME.values() for path in row.usage)
"""Where else usage stands."""
CACHED: Final = tuple(path for row in BY_NAME.values() for path in row.cached)
"""Where else cached tokens stand."""


def windows_in(words: str) -> list[int]:
    """The sizes of a window, in tokens, that an error names."""
    return [int(found) for pattern in WINDOWS for found in pattern.findall(words)]


def dialect_of_url(base_url: str) -> Dialect:
    """The dialect that the host or the port of a base URL hints at."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname or "", f":{parts.port}"
    except ValueError:
        return GENERAL
    for row in DIALECTS:
        if any(known in {host, port} or host.endswith(f".{known}") for known in row.hosts):
            return row
    return GENERAL


def dialect_of_words(words: Mapping[str, str]) -> Dialect | None:
    """The dialect that a server's headers, fingerprint or list of models give away; None where they say nothing."""
    lines = [f"{name}: {value}".casefold() for name, value in words.items()]
    rows = [row for row in DIALECTS if any(line.startswith(row.marks) for line in lines)]
    # A proxy passes on the headers of whoever is behind it, and is the one that is spoken with.
    return next((row for row in rows if row.proxy), next(iter(rows), None))
