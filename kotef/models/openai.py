"""Client for OpenAI-compatible endpoints that acts only on complete answers."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from kotef.models.dialects import Rung
from kotef.models.endpoint_memory import EndpointMemories, EndpointMemory
from kotef.models.errors import (
    MAX_TRIES,
    Fault,
    backoff,
    diagnose,
    failures,
    redacted,
    refusal_of,
)
from kotef.models.exchange import exchange, headers_of
from kotef.models.factory import DEADLINE_SECONDS, NO_KEY, OPENAI_URL, Tell, silent
from kotef.models.http_client import Lifetime, open_client
from kotef.models.message_fields import send_back
from kotef.models.refusals import MOST_LESSONS, RefusedRequest, learn, slip_in, with_slip
from kotef.models.response_parser import ModelResponse
from kotef.models.responses_request import ModelApi
from kotef.models.retry_verbosity import Loudness, loudness
from kotef.models.usage import CHARACTERS_PER_TOKEN, SECONDS, STAND_IN
from kotef.models.word_stream import WordStream
from kotef.redaction import encodable, redactor, shown_url

READ_SECONDS: Final = 600.0
SILENT_SHARE: Final = 0.45
"""Fraction of the time for one answer: an endpoint silent for longer is asked again while there is time."""
MOST_SLIPS: Final = 2
"""Answers of the model that the server could not read, each of which the model is told of."""

_UNUSED: Final = object()
"""Stands where ChatOpenAI would build its own clients, which no one would close."""

_open: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, set[Lifetime]]] = WeakKeyDictionary()
"""Clients not yet closed. A model that is collected first would start closing its own in a task, and a loop that is
about to end cancels its tasks, half-way through."""


AT_WORK: Final = frozenset({"truncated", "timeout", "silent"})
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
    heard: bool = False
    """Whether anything came of the answer to the last one."""
    slips: int = 0
    """Answers of the model that the server could not read."""

    def hear(self) -> None:
        """Note that something of an answer has arrived."""
        self.heard = True


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
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Sent with each request."""
    query: dict[str, SecretStr] = Field(default_factory=dict)
    """Parameters of the address of each request, such as Azure's `api-version`."""
    dialect: str = ""
    """The dialect of the endpoint, if a person named it; else it is found out."""
    api: ModelApi | None = None
    """The API by which the model is asked; None: the endpoint is asked for chat completions first."""
    memories: EndpointMemories = Field(default_factory=EndpointMemories, exclude=True)
    """What is learnt of endpoints; the models of a run share it."""
    stand_in: str = ""
    """The model of this endpoint that takes over, for good, once this one fails; empty: none does."""
    emit: Tell = Field(default=silent, exclude=True)
    """Called with `model_retry` before each wait, `model_fallback`, `model_cancelled`, `model_adapted`, and words."""

    use_responses_api: bool | None = False
    disable_streaming: bool | Literal["tool_calling"] = True
    client: Any = Field(default=_UNUSED, exclude=True)
    async_client: Any = Field(default=_UNUSED, exclude=True)
    http_socket_options: Sequence[tuple[int, int, int]] | None = ()

    _clients: dict[asyncio.AbstractEventLoop, tuple[Lifetime, openai.AsyncOpenAI]] = PrivateAttr(default_factory=dict)
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
            fault: ModelFault = "call_time" if tries.heard else "silent"
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

    @property
    def memory(self) -> EndpointMemory:
        """What is known of the model that is asked now."""
        return self.memories.of(self.openai_api_base or OPENAI_URL, self._asked, self.dialect, self.api)

    @property
    def structured_order(self) -> tuple[Rung, ...]:
        """Ways to ask for JSON, as the endpoint's dialect has them."""
        return self.memory.dialect.structured

    async def _persist(self, payload: dict[str, Any], tries: "_Tries") -> ModelResponse:
        """The first whole answer; `tries` says how many requests it took.

        A refusal that something can be learnt of changes the next request and is not counted as a failure.
        """
        last, lessons = tries.made + self.max_tries, 0
        forced = isinstance(payload.get("tool_choice"), dict)
        while True:
            tries.made, tries.heard = tries.made + 1, False
            request = self.memory.fitted({**payload, "stream": True, "stream_options": {"include_usage": True}})
            try:
                return await self._try(request, tries)
            except failures() as error:
                if isinstance(error, UnicodeEncodeError) and (clean := encodable(payload)) is not payload:
                    payload = clean
                    continue
                fault, refusal = diagnose(error), refusal_of(error)
                self._hear_of(error)

            if refusal is not None and not fault.overflow:
                written = slip_in(refusal)
                if written is not None:
                    tries.slips, tries.lost, last = tries.slips + 1, tries.lost + 1, last + 1
                    if tries.slips > MOST_SLIPS:
                        return ModelResponse.of_text(written)
                    self._adapt("the server could not read the model's answer; it is asked again")
                    payload = with_slip(payload, written, redacted(fault, self._key).detail)
                    continue
                refused = RefusedRequest(self.memory, refusal, request, forced)
                if lessons < MOST_LESSONS and (lesson := learn(refused)):
                    lessons, last = lessons + 1, last + 1
                    self.memories.keep()
                    self._adapt(lesson)
                    continue

            if tries.heard and fault.fault == "silent":
                fault = replace(fault, fault="timeout")
            tries.lost += fault.fault in AT_WORK
            if not fault.again or tries.made >= last:
                raise self._failure(fault, tries)
            failed = tries.made + self.max_tries - last
            await self._wait(fault, failed, tries)

    async def _wait(self, fault: Fault, failed: int, tries: "_Tries") -> None:
        """Wait before the next try, as long as the endpoint asks for; raise the fault where no time is left."""
        wait = backoff(failed, self.retry_base) if fault.wait is None else fault.wait
        if fault.fault == "silent":  # it has been waited for already
            wait = 0.0
        now = asyncio.get_running_loop().time()
        if now + wait >= tries.ends:
            hint = f"it asks to wait {wait:.0f} s, more than is left of {self.deadline:g} s"
            raise self._failure(replace(fault, hint=hint), tries)
        self._tell_of(fault, failed, wait, tries, loudness(failed, now - tries.began + wait))
        await asyncio.sleep(wait)

    def _adapt(self, what: str) -> None:
        self.emit("model_adapted", model=self._asked, what=what)

    def _hear_of(self, error: Exception) -> None:
        if isinstance(error, openai.APIStatusError):
            self.memory.hear(headers_of(error.response))

    def _tell_of(self, fault: Fault, failed: int, wait: float, tries: _Tries, level: Loudness) -> None:
        """One retry; that there are any is said once, until it has taken so long that each is said."""
        shown_as = "quiet" if level == "line" and tries.said else level
        tries.said = tries.said or level != "quiet"
        why = f"{fault.fault}: {redacted(fault, self._key).detail}"
        self.emit("model_retry", attempt=failed, seconds=wait, why=why, level=shown_as)

    async def _try(self, request: dict[str, Any], tries: "_Tries") -> ModelResponse:
        """One request."""
        client, memory, words = await self._client(), self.memory, WordStream(self.emit)
        answer = await exchange(client, request, words, hear=memory.hear, begun=tries.hear)
        memory.hear({"system_fingerprint": answer.fingerprint})
        await asyncio.sleep(0)  # whoever cancelled while the last piece was on its way must not see it act
        return answer

    async def _client(self) -> openai.AsyncOpenAI:
        """The client of the running event loop: connections cannot be shared between loops."""
        loop = asyncio.get_running_loop()
        for gone in [known for known in self._clients if known.is_closed()]:
            del self._clients[gone]
        if loop not in self._clients:
            lifetime = self._lifetime()
            self._clients[loop] = lifetime, await anext(lifetime)
            _open.setdefault(loop, set()).add(lifetime)
        return self._clients[loop][1]

    def _lifetime(self) -> Lifetime:
        return open_client(
            self.openai_api_base or OPENAI_URL,
            self._key,
            read_timeout=min(self.read_timeout, SILENT_SHARE * self.deadline),
            headers=plain_values(self.headers),
            query=plain_values(self.query),
        )

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
        """Without known secrets, and with the fields that the endpoint added to its answers.

        Malformed arguments go back as a JSON object that quotes them: servers parse them.
        """
        payload: dict[str, Any] = super()._get_request_payload(input_, stop=stop, **kwargs)
        for message, original in zip(payload["messages"], self._convert_input(input_).to_messages(), strict=True):
            send_back(message, original)
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


def plain_values(secrets: Mapping[str, SecretStr]) -> dict[str, str]:
    """The values as they are sent."""
    return {name: value.get_secret_value() for name, value in secrets.items()}


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


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False
