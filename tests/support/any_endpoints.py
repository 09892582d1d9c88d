"""What can an endpoint say instead of an answer? Errors in all shapes and words, headers, lists of models."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import strategies as st
from support.any_answers import answers
from support.any_json import any_json, nested, texts

NUMBERS = st.sampled_from(("0", "1", "8", "9", "40", "512", "4096", "99999999", "9" * 30, "9" * 5_000, "٤٠٩٦"))
WORDS = st.sampled_from(
    (
        "Unsupported parameter: '{}'",
        'unknown field "{}"',
        "temperature is not supported",
        "tool_choice must be auto",
        "thinking mode does not support tool_choice",
        "messages.1.reasoning_content: extra_forbidden, not permitted",
        "`reasoning_content` is required and missing",
        "Function call is missing a thought_signature",
        "roles must alternate user/assistant",
        "tool_calls[0].id is too long: maximum length {}",
        "must be a-z, A-Z, 0-9, with a length of 9",
        "does not support tools",
        "requires --jinja",
        "only supported in v1/responses, set reasoning_effort",
        "maximum context length is {} tokens",
        "n_ctx: {}",
        "the prompt is too long: > {} maximum",
        "tool_use_failed",
        "failed to parse tool call arguments as json",
        "no endpoints found that support this",
        "insufficient_quota",
        "stream_options",
        "additionalProperties is not supported",
    )
)


def words() -> st.SearchStrategy[str]:
    """Words that something is learnt from, with any figures, and any others."""
    said = st.builds(lambda text, number: text.format(number), WORDS, NUMBERS)
    return st.lists(said | texts(), min_size=1, max_size=3).map(". ".join)


def errors() -> st.SearchStrategy[Any]:
    """The body of an error, as JSON."""
    inner = st.fixed_dictionaries(
        {},
        optional={
            "message": words() | any_json(),
            "code": st.sampled_from((400, 429, 500, "context_length_exceeded", 10**40)) | any_json(depth=2),
            "type": words() | any_json(depth=2),
            "param": st.sampled_from(("temperature", "stream", "messages", "tools")) | any_json(depth=2),
            "failed_generation": texts() | any_json(),
            "metadata": any_json(),
        },
    )
    error = inner | inner.map(json.dumps) | words() | any_json() | st.sampled_from((60, 400, 900)).map(nested)
    deep = st.sampled_from((3, 60, 400)).map(_errors_in_errors)
    return st.builds(lambda one: {"error": one}, error) | inner | error | st.lists(inner, max_size=2) | deep


def _errors_in_errors(depth: int) -> Any:
    value: Any = {"message": "too deep"}
    for _ in range(depth):
        value = {"error": value}
    return value


RAW = st.sampled_from((b"", b"null", b"[]", b"<html>no</html>", b"\xff\xfe", b"[" * 5_000, b"data: {}", b'{"error": '))


def bodies() -> st.SearchStrategy[bytes]:
    """The bytes of any response: an error, an answer, a stream of them, a list of models, or nonsense."""
    pieces = st.lists(answers(part="delta") | errors(), min_size=1, max_size=3)
    stream = pieces.map(lambda chunks: "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode())
    return RAW | st.binary(max_size=30) | stream | (errors() | answers() | listings()).map(_bytes)


def _bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def listings() -> st.SearchStrategy[Any]:
    """What `/models` answers."""
    figure = NUMBERS.map(lambda text: int(text[:40])) | any_json(depth=2)
    name = st.sampled_from(("m", "models/m", "m:latest")) | texts() | any_json(depth=2)
    sizes = dict.fromkeys(("max_model_len", "context_length", "n_ctx"), figure)
    extra = {
        "meta": st.fixed_dictionaries({}, optional=sizes) | any_json(depth=2),
        "owned_by": texts() | any_json(depth=1),
    }
    entry = st.fixed_dictionaries({}, optional={"id": name, **sizes, **extra}) | any_json(depth=2)
    listed = st.fixed_dictionaries({}, optional={"data": st.lists(entry, max_size=3) | any_json(), "n_ctx": figure})
    return listed | any_json()


def headers() -> st.SearchStrategy[dict[str, str]]:
    """Headers that a client reads, with any values that HTTP can carry."""
    latin = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=20)
    dates = ("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 99999999999 07:28:00 GMT", "Mon, 31 Feb 2025 00:00:00 +9999")
    waits = st.sampled_from(("0", "-1", "1e400", "nan", "inf", "٣", *dates)) | latin
    charset = st.sampled_from(("rot13", "hex", "zlib", "undefined", "idna", "utf-16", "utf-7", "latin-1", "no such"))
    return st.fixed_dictionaries(
        {},
        optional={
            "retry-after": waits,
            "retry-after-ms": waits,
            "x-should-retry": st.sampled_from(("true", "false")) | latin,
            "content-type": charset.map("application/json; charset={}".format) | latin,
            "content-encoding": st.sampled_from(("gzip", "deflate", "br", "zstd", "identity", "x")),
            "location": latin | st.sampled_from(("//[", "http://[::1", "http://a:99999999/", "/x", "http://ü.example")),
            "set-cookie": latin,
            "server": st.sampled_from(("llama.cpp", "uvicorn")) | latin,
            "x-request-id": latin,
            "openai-version": latin,
        },
    )


@contextmanager
def endpoint(answer: Callable[[httpx2.Request], httpx2.Response]) -> Iterator[None]:
    """Every request of kotef's own clients is answered so, without a socket."""
    import kotef.models.openai  # noqa: F401  its base class derives from what is replaced here

    made = partial(openai.DefaultAsyncHttpxClient, transport=httpx2.MockTransport(answer))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(openai, "DefaultAsyncHttpxClient", made)
        yield
