"""The size of a model's context window in tokens."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin

from langchain_core.language_models import BaseChatModel

from kotef.models.dialects import windows_in
from kotef.models.errors import failures
from kotef.models.json_values import parsed

UNKNOWN: Final = 32_768
"""Tokens, where no one says."""
SECONDS: Final = 2.0
"""The server's time for each of the two questions."""
LEAST: Final = 512
"""A smaller figure is taken for something else."""
MOST: Final = 10**9
"""So is a larger one."""

_LISTED: Final = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx")
"""Fields of a model in `/v1/models`: vLLM and SGLang; OpenRouter and others; Groq; LM Studio and Mistral; llama.cpp."""


class Window(NamedTuple):
    """Input and output together, in tokens, and who says so."""

    tokens: int
    source: str
    """`settings`, `profile`, `server`, `unknown`, or `overflow` once it proved to be smaller."""


@dataclass
class ContextWindow:
    """The window of the coder's model; asked for when the first conversation grows, and once a run."""

    model: BaseChatModel
    given: int | None = None
    """What a person said."""
    told: Callable[[int], None] | None = None
    """Called with the window that was found where none was configured."""
    _known: Window | None = field(default=None, init=False)

    async def find(self) -> Window:
        """The first that says something: the settings, the model's profile, its server; else 32k. Never raises."""
        if self._known is None:
            self._known = await self._found()
            if self.told is not None and not self.given:
                self.told(self._known.tokens)
        return self._known

    async def lower(self, tokens: int, said: str = "") -> None:
        """The model had no room for about so many, whoever said that it has; `said` is the error, which may name it."""
        known = await self.find()
        tokens = min([tokens, *(figure for figure in windows_in(said) if figure >= LEAST)])
        if tokens < known.tokens:
            self._known = Window(tokens, "overflow")

    async def _found(self) -> Window:
        if self.given:
            return Window(self.given, "settings")
        profile: Any = getattr(self.model, "profile", None) or {}
        if tokens := _tokens(profile.get("max_input_tokens")):
            return Window(tokens, "profile")
        if tokens := await self._served():
            return Window(tokens, "server")
        return Window(UNKNOWN, "unknown")

    async def _served(self) -> int | None:
        """What the server says of itself; llama.cpp tells what one slot has in `/props`, beside `/v1`."""
        from kotef.models.factory import NO_KEY
        from kotef.models.http_client import open_client
        from kotef.models.openai import StrictChatOpenAI, plain_values

        model = self.model
        if not isinstance(model, StrictChatOpenAI) or not model.openai_api_base:
            return None
        key: Any = model.openai_api_key
        secret = key.get_secret_value() if key else NO_KEY
        base = model.openai_api_base
        opened = open_client(
            base, secret, read_timeout=SECONDS, headers=plain_values(model.headers), query=plain_values(model.query)
        )
        async with aclosing(opened) as lifetime:
            client = await anext(lifetime)
            for url, read in ((urljoin(base, "/props"), read_props), (f"{base.rstrip('/')}/models", read_models)):
                try:
                    async with asyncio.timeout(SECONDS):
                        body = await client.get(url, cast_to=str)
                    if tokens := read(parsed(body), model.model_name):
                        return tokens
                except failures(ValueError):  # it does not know this question
                    continue
        return None


def read_props(body: Any, _: str = "") -> int | None:
    """The window of one slot in llama.cpp's `/props`; None if it is not that."""
    parts = (_of(body, "default_generation_settings"), body)
    return next((tokens for part in parts if (tokens := _tokens(_of(part, "n_ctx")))), None)


def read_models(body: Any, name: str) -> int | None:
    """The window that `/v1/models` gives the model of this name, or the only one it lists."""
    found = _of(body, "data")
    listed = [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
    named = [entry for entry in listed if entry.get("id") == name] or (listed if len(listed) == 1 else [])
    return next((tokens for entry in named for tokens in _figures(entry)), None)


def _figures(entry: dict[str, Any]) -> Iterator[int]:
    for part in (entry, entry.get("meta"), entry.get("top_provider")):
        for name in _LISTED:
            if tokens := _tokens(_of(part, name)):
                yield tokens


def _of(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _tokens(value: Any) -> int | None:
    """A figure that can be a window."""
    return value if isinstance(value, int) and not isinstance(value, bool) and LEAST <= value <= MOST else None
