"""One request to an endpoint and its answer, by the API that the request is written for."""

import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import cache
from typing import TYPE_CHECKING, Any

from kotef.models.response_parser import ModelResponse, read_answer
from kotef.models.responses_answer import ResponsesAnswer

if TYPE_CHECKING:
    import openai

    from kotef.models.word_stream import WordStream


async def exchange(
    client: "openai.AsyncOpenAI",
    request: Mapping[str, Any],
    words: "WordStream",
    *,
    hear: Callable[[Mapping[str, str]], None],
    begun: Callable[[], None],
) -> ModelResponse:
    """The whole answer; `hear` gets the headers, `begun` is called when something of the body has arrived."""
    is_chat = "messages" in request
    async with _chat(client, request) if is_chat else _responses(client, request) as response:
        hear(headers_of(response))
        answer = ModelResponse(words) if is_chat else ResponsesAnswer(words)
        return await read_answer(_noted(response.iter_bytes(), begun), answer)


def headers_of(response: Any) -> dict[str, str]:
    """The headers of a response, as the server gives itself away by them."""
    return {str(name): str(value) for name, value in response.headers.items()}


def _chat(client: "openai.AsyncOpenAI", request: Mapping[str, Any]) -> AbstractAsyncContextManager[Any]:
    """Messages and tools go around the client's transformation, which costs more than all the rest."""
    around = {name: request[name] for name in ("messages", "tools") if name in request}
    places: dict[str, Any] = {name: [] for name in around}
    others = {name: value for name, value in request.items() if name not in _client_parameters()}
    known = {name: value for name, value in request.items() if name not in others}
    sent: dict[str, Any] = {**known, **places, "extra_body": {**others, **around}}
    return client.chat.completions.with_streaming_response.create(**sent)


def _responses(client: "openai.AsyncOpenAI", request: Mapping[str, Any]) -> AbstractAsyncContextManager[Any]:
    return client.responses.with_streaming_response.create(extra_body=dict(request))


@cache
def _client_parameters() -> frozenset[str]:
    """Parameters that the client knows; others go around it."""
    from openai.resources.chat.completions import AsyncCompletions

    return frozenset(inspect.signature(AsyncCompletions.create).parameters)


async def _noted(pieces: AsyncIterator[bytes], begun: Callable[[], None]) -> AsyncIterator[bytes]:
    async for piece in pieces:
        begun()
        yield piece
