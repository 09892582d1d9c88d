"""Client for OpenAI-compatible endpoints that acts only on complete answers."""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

import openai
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import BaseTool
from langchain_openai import ChatOpenAI
from pydantic import Field, PrivateAttr, SecretStr

from kotef.errors import ContextOverflowError, ModelError, ModelFault
from kotef.models.errors import (
    MAX_TRIES,
    Fault,
    backoff,
    diagnose,
    failures,
    parts_of,
    redacted,
)
from kotef.models.factory import DEADLINE_SECONDS, NO_KEY, OPENAI_URL, Tell, silent
from kotef.models.response_parser import ModelResponse, read_answer
from kotef.models.retry_verbosity import Loudness, loudness
from kotef.models.usage import CHARACTERS_PER_TOKEN, SECONDS, STAND_IN
from kotef.redaction import encodable, redactor, shown_url

CONNECT_SECONDS: Final = 10.0
READ_SECONDS: Final = 600.0

_UNUSED: Final = object()
"""Stands where ChatOpenAI would build its own clients, which no one would close."""

_Lifetime = AsyncGenerator[openai.AsyncOpenAI]

_open: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, set[_Lifetime]]] = WeakKeyDictionary()
"""Clients not yet closed. A model that is collected first would start closing its own in a task, and a loop that is
about to end cancels its tasks, half-way through."""


AT_WORK: Final = frozenset({"truncated", "timeout"})
"""Faults of an endpoint that had begun to work on the request."""

OURS: Final = frozenset({"bad_request"})
"""Faults of the request itself, with which no other model could do better."""


@dataclass(slots=True)
class _Tries:
    """Requests made for one answer, by one model."""

    began: float
    """On the clock of the event loop."""
    ends: float
    """When the answer has to be there."""
    made: int = 0
    lost: int = 0
    """Those that failed while the endpoint was at work."""
    said: bool = False
    """Whether a person has been informed that they fail."""


class StrictChatOpenAI(ChatOpenAI):
    """ChatOpenAI that never acts on half an answer, always ends in time, and fails as a `ModelError` or not at all.

    Retries live here and nowhere else. Asynchronous: `invoke` works where no event loop runs. An answer is handed on
    when it is whole, so `astream` yields one chunk; over HTTP it is streamed, for the read timeout to mean silence.
    """

    deadline: float = Field(default=DEADLINE_SECONDS, gt=0)
    """Seconds one answer may take one model, retries and waits included."""
    read_timeout: float = Field(default=READ_SECONDS, gt=0)
    """Seconds the endpoint may stay silent."""
    max_tries: int = Field(default=MAX_TRIES, ge=1)
    """HTTP requests for one answer, the first included."""
    retry_base: float = Field(default=1.0, ge=0)
    """Seconds of the first wait, give or take half; the next ones double."""
    stand_in: str = ""
    """The model of this endpoint that takes over, for good, once this one fails; empty: none does."""
    emit: Tell = Field(default=silent, exclude=True)
    """Called with `model_retry` before each wait, with `model_fallback` and with `model_cancelled`."""

    use_responses_api: bool | None = False
    disable_streaming: bool | Literal["tool_calling"] = True
    client: Any = Field(default=_UNUSED, exclude=True)
    async_client: Any = Field(default=_UNUSED, exclude=True)
    http_socket_options: Sequence[tuple[int, int, int]] | None = ()

    _clients: dict[asyncio.AbstractEventLoop, tuple[_Lifetime, openai.AsyncOpenAI]] = PrivateAttr(default_factory=dict)
    _usage_refused: bool = PrivateAttr(default=False)
    _taken_over: bool = PrivateAttr(default=False)

    @property
    def endpoint(self) -> str:
        """The base URL as it may be printed."""
        return shown_url(self.openai_api_base or OPENAI_URL)

    async def aclose(self) -> None:
        """Close the connections of the running event loop; without this they close when the loop does."""
        loop = asyncio.get_running_loop()
        if loop in self._clients:
            lifetime, _ = self._clients.pop(loop)
            _open[loop].discard(lifetime)
            await lifetime.aclose()

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the hook's signature
        **kwargs: Any,
    ) -> ChatResult:
        payload = self._get_request_payload(messages, stop=stop, **kwargs)
        tries = self._tries()
        began = tries.began
        try:
            answer = await self._answer(payload, tries)
        except ModelError as error:
            if not self.stand_in or self._taken_over or error.fault in OURS:
                raise
            self._taken_over = True
            self.emit("model_fallback", model=self.model_name, stand_in=self.stand_in, why=str(error))
            tries = self._tries(before=tries)
            answer = await self._answer(payload, tries)
        used_ids = {call["id"] or "" for message in messages for call in getattr(message, "tool_calls", ())}
        size = len(json.dumps([payload["messages"], payload.get("tools")], ensure_ascii=False, default=str))
        message = answer.message(used_ids=used_ids, request_characters=size, tries=tries.made)
        message = redactor().whole(message)  # one that guessed a secret, or decoded it, is not kept with it
        message.response_metadata["lost"] = tries.lost
        message.response_metadata[SECONDS] = round(asyncio.get_running_loop().time() - began, 3)
        if self._taken_over:
            message.response_metadata[STAND_IN] = self.stand_in
        if not message.response_metadata["model_name"]:
            message.response_metadata["model_name"] = self._asked
        generation = ChatGeneration(message=message, generation_info={"finish_reason": answer.finish_reason})
        return ChatResult(generations=[generation], llm_output={"model_name": self._asked})

    @property
    def _asked(self) -> str:
        """The model that is asked now."""
        return self.stand_in if self._taken_over else self.model_name

    def _tries(self, before: _Tries | None = None) -> _Tries:
        now = asyncio.get_running_loop().time()
        fresh = _Tries(began=now, ends=now + self.deadline)
        return replace(fresh, made=before.made, lost=before.lost) if before else fresh

    async def _answer(self, payload: dict[str, Any], tries: _Tries) -> ModelResponse:
        """The first whole answer of the model that is asked now, in time; a cancelled one is reported."""
        try:
            async with asyncio.timeout_at(tries.ends):
                return await self._persist(payload | {"model": self._asked}, tries)
        except TimeoutError:
            tries.lost += 1
            fault: ModelFault = "timeout" if tries.made > 1 else "call_time"  # then it was never silent, only slow
            raise self._failure(Fault(fault, f"no complete answer within {self.deadline:g} s"), tries) from None
        except asyncio.CancelledError:
            self.emit("model_cancelled", model=self._asked, tries=tries.made)
            raise

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        yield _as_chunk(await self._agenerate(*args, **kwargs))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the hook's signature
        **kwargs: Any,
    ) -> ChatResult:
        return asyncio.run(self._agenerate(messages, stop, **kwargs))

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        yield _as_chunk(self._generate(*args, **kwargs))

    async def _persist(self, payload: dict[str, Any], tries: "_Tries") -> ModelResponse:
        """The first whole answer; `tries` says how many requests it took."""
        last = tries.made + self.max_tries
        while True:
            tries.made += 1
            with_usage = not self._usage_refused
            try:
                return await self._try(payload, with_usage=with_usage)
            except UnicodeEncodeError:
                payload = encodable(payload)
                continue
            except failures() as error:
                fault = diagnose(error)
                if with_usage and fault.fault == "bad_request" and _names_usage(error):
                    self._usage_refused = True
                    continue
            tries.lost += fault.fault in AT_WORK
            if not fault.again or tries.made >= last:
                raise self._failure(fault, tries)
            failed = tries.made + self.max_tries - last
            wait = backoff(failed, self.retry_base) if fault.wait is None else fault.wait
            now = asyncio.get_running_loop().time()
            if now + wait >= tries.ends:
                hint = f"it asks to wait {wait:.0f} s, more than is left of {self.deadline:g} s"
                raise self._failure(replace(fault, hint=hint), tries)
            self._tell_of(fault, failed, wait, tries, loudness(failed, now - tries.began + wait))
            await asyncio.sleep(wait)

    def _tell_of(self, fault: Fault, failed: int, wait: float, tries: _Tries, level: Loudness) -> None:
        """One retry; that there are any is said once, until it has taken so long that each is said."""
        shown_as = "quiet" if level == "line" and tries.said else level
        tries.said = tries.said or level != "quiet"
        why = f"{fault.fault}: {redacted(fault, self._key).detail}"
        self.emit("model_retry", attempt=failed, seconds=wait, why=why, level=shown_as)

    async def _try(self, payload: dict[str, Any], *, with_usage: bool) -> ModelResponse:
        """One request. Messages and tools go around the client's transformation, which costs more than all the rest."""
        client = await self._client()
        around = {name: payload[name] for name in ("messages", "tools") if name in payload}
        places: dict[str, Any] = {name: [] for name in around}
        extra = {**(payload.get("extra_body") or {}), **around}
        request = {**payload, "stream": True, **places, "extra_body": extra}
        if with_usage:
            request["stream_options"] = {"include_usage": True}
        async with client.chat.completions.with_streaming_response.create(**request) as response:
            answer = await read_answer(response.iter_bytes())
        await asyncio.sleep(0)  # whoever cancelled while the last piece was on its way must not see it act
        return answer

    async def _client(self) -> openai.AsyncOpenAI:
        """The client of the running event loop: connections cannot be shared between loops."""
        loop = asyncio.get_running_loop()
        for gone in [known for known in self._clients if known.is_closed()]:
            del self._clients[gone]
        if loop not in self._clients:
            lifetime = open_client(self.openai_api_base or OPENAI_URL, self._key, read_timeout=self.read_timeout)
            self._clients[loop] = lifetime, await anext(lifetime)
            _open.setdefault(loop, set()).add(lifetime)
        return self._clients[loop][1]

    @property
    def _key(self) -> str:
        return self.openai_api_key.get_secret_value() if isinstance(self.openai_api_key, SecretStr) else NO_KEY

    def _failure(self, fault: Fault, tries: "_Tries") -> ModelError:
        """The error to raise; it has no cause, because the client's own errors quote headers and bodies."""
        fault = redacted(fault, self._key)
        if fault.overflow:
            return ContextOverflowError(fault.detail, endpoint=self.endpoint)
        detail = fault.detail if tries.made == 1 else f"{fault.detail}, after {tries.made} tries"
        error = ModelError(fault.fault, detail, endpoint=self.endpoint, hint=fault.hint)
        error.tries, error.lost = tries.made, tries.lost
        return error

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Without known secrets. Malformed arguments go back as a JSON object that quotes them: servers parse them."""
        payload: dict[str, Any] = super()._get_request_payload(input_, stop=stop, **kwargs)
        for message in payload["messages"]:
            for call in message.get("tool_calls") or ():
                if not _is_object(call["function"]["arguments"]):
                    call["function"]["arguments"] = json.dumps({"malformed": call["function"]["arguments"]})
        return payload | {name: redactor().whole(payload[name]) for name in ("messages", "tools") if name in payload}

    def get_num_tokens(self, text: str) -> int:
        """An estimate: the tokenizer of the class above is a download."""
        return -(-len(text) // CHARACTERS_PER_TOKEN)

    def get_num_tokens_from_messages(
        self,
        messages: Sequence[BaseMessage],
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool] | None = None,
        **_: Any,
    ) -> int:
        """An estimate, as above, of all that would be sent."""
        payload = self._get_request_payload(list(messages))["messages"]
        return self.get_num_tokens(json.dumps([payload, [str(tool) for tool in tools or ()]], ensure_ascii=False))


async def open_client(base_url: str, api_key: str, *, read_timeout: float) -> _Lifetime:
    """Yield a client, once; it closes with the generator, and the event loop closes its generators when it ends.

    Redirects are not followed: they turn a POST into a GET. A loopback address is never asked through a proxy, and
    costs no loading of certificates (tens of milliseconds) where it needs none: its context trusts no one.
    """
    local = _is_loopback(base_url)
    certificates = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if local and base_url.startswith("http://") else True
    timeout = openai.Timeout(read_timeout, connect=min(CONNECT_SECONDS, read_timeout))
    http = openai.DefaultAsyncHttpxClient(
        timeout=timeout, follow_redirects=False, trust_env=not local, verify=certificates
    )
    client = openai.AsyncOpenAI(base_url=base_url, api_key=api_key, timeout=timeout, max_retries=0, http_client=http)
    try:
        yield client
    finally:
        await client.close()


def _as_chunk(result: ChatResult) -> ChatGenerationChunk:
    """A whole answer in the form of a stream's only, and last, chunk."""
    generation = result.generations[0]
    message = generation.message
    assert isinstance(message, AIMessage)  # noqa: S101 - made above, in `_agenerate`
    chunk = AIMessageChunk(
        content=message.content,
        additional_kwargs=message.additional_kwargs,
        response_metadata=message.response_metadata,
        tool_calls=message.tool_calls,
        invalid_tool_calls=message.invalid_tool_calls,
        usage_metadata=message.usage_metadata,
        chunk_position="last",
    )
    return ChatGenerationChunk(message=chunk, generation_info=generation.generation_info)


def _names_usage(error: Exception) -> bool:
    """Whether a refusal is about `stream_options`, which older servers do not know."""
    return isinstance(error, openai.APIStatusError) and any(
        word in error.response.text for word in ("stream_options", "include_usage")
    )


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _is_loopback(base_url: str) -> bool:
    host = parts_of(base_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
