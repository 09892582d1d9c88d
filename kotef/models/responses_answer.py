"""Answers of OpenAI's Responses API, read as answers of chat completions."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from kotef.models.errors import AnswerError, ReportedError
from kotef.models.response_parser import ModelResponse
from kotef.models.responses_request import ITEMS

_LENGTH: Final = "length"
_UNFINISHED: Final = {"max_output_tokens": _LENGTH, "content_filter": "content_filter"}
"""Reasons of an incomplete answer, as chat completions name them."""


class ResponsesAnswer(ModelResponse):
    """One answer of the Responses API while it arrives: events of a stream, or one object."""

    def __init__(self, heard: Callable[[str], None] | None = None) -> None:
        """Nothing arrived yet; `heard` as in the class above."""
        super().__init__(heard)
        self._items: dict[int, dict[str, Any]] = {}
        self._has_begun = False

    def add(self, chunk: object) -> None:
        """Take one event, or the one object of an answer that was not streamed."""
        if not isinstance(chunk, dict):
            raise AnswerError("nonsense", "the answer is JSON, but not an object")
        kind = _as_text(chunk.get("type"))
        self._has_begun = self._has_begun or kind.startswith("response.")
        if chunk.get("object") == "response":
            self._end(chunk)
        elif kind == "error":
            raise ReportedError(chunk.get("error") or chunk)
        elif kind == "response.output_text.delta" and self.heard is not None:
            self.heard(_as_text(chunk.get("delta")))
        elif kind == "response.output_item.done":
            self._keep(chunk.get("output_index"), chunk.get("item"))
        elif kind in {"response.completed", "response.incomplete", "response.failed"}:
            self._end(chunk.get("response"))
        elif chunk.get("error"):
            raise ReportedError(chunk["error"])

    def check(self) -> None:
        """Raise `AnswerError` unless the answer is whole: a stream has to end with the event that says so."""
        if self._has_begun and not self.finish_reason:
            raise AnswerError("truncated", "the answer ended without a finish reason")
        super().check()

    def _keep(self, index: object, item: object) -> None:
        if isinstance(item, dict):
            self._items[index if isinstance(index, int) else len(self._items)] = item

    def _end(self, response: object) -> None:
        """Take the whole answer in the form of chat completions."""
        if not isinstance(response, dict):
            raise AnswerError("nonsense", "an answer without output")
        if response.get("error"):
            raise ReportedError(response["error"])
        listed = response.get("output")
        streamed = [self._items[at] for at in sorted(self._items)]
        items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
        items = items or streamed
        message = _message_of(items)
        choice = {"index": 0, "message": message, "finish_reason": _finish(response, message)}
        heard, self.heard = self.heard, None  # it has heard the text piece by piece
        super().add(
            {
                "id": response.get("id"),
                "model": response.get("model"),
                "choices": [choice],
                "usage": _usage(response.get("usage")),
            }
        )
        self.heard = heard


def _message_of(items: list[dict[str, Any]]) -> dict[str, Any]:
    """The message of chat completions that says the same."""
    calls = [item for item in items if item.get("type") == "function_call"]
    parts = [part for item in items if item.get("type") == "message" for part in _dicts(item.get("content"))]
    message: dict[str, Any] = {
        "content": "".join(_as_text(part.get("text")) for part in parts if part.get("type") == "output_text"),
        "refusal": "".join(_as_text(part.get("refusal")) for part in parts),
        "tool_calls": [
            {
                "index": number,
                "id": call.get("call_id"),
                "type": "function",
                "function": {"name": call.get("name"), "arguments": call.get("arguments")},
            }
            for number, call in enumerate(calls)
        ],
    }
    summaries = [part for item in items if item.get("type") == "reasoning" for part in _dicts(item.get("summary"))]
    if thoughts := "\n\n".join(_as_text(part.get("text")) for part in summaries):
        message["reasoning_content"] = thoughts
    if kept := list(_kept(items)):
        message[ITEMS] = kept
    return message


def _kept(items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The reasoning that can be sent back, and where the rest stood; nothing if there is none."""
    if not any(_can_return(item) for item in items):
        return
    for item in items:
        if _can_return(item):
            yield {name: item[name] for name in ("type", "id", "summary", "encrypted_content") if name in item}
        elif item.get("type") == "function_call":
            yield {"type": "function_call", "call_id": item.get("call_id")}
        elif item.get("type") == "message":
            yield {"type": "message"}


def _can_return(item: Mapping[str, Any]) -> bool:
    """Whether it is reasoning that the server can read again; it does not keep any."""
    return item.get("type") == "reasoning" and isinstance(item.get("encrypted_content"), str)


def _finish(response: Mapping[str, Any], message: Mapping[str, Any]) -> str:
    """Why the model ended, as chat completions say it; empty where the server does not say that it did."""
    status = response.get("status")
    if status == "incomplete":
        details = response.get("incomplete_details")
        why = details.get("reason") if isinstance(details, dict) else None
        return _UNFINISHED.get(_as_text(why), _LENGTH)
    if status != "completed":
        return ""
    return "tool_calls" if message["tool_calls"] else "stop"


def _usage(sent: object) -> dict[str, Any] | None:
    if not isinstance(sent, dict):
        return None
    return {
        "prompt_tokens": sent.get("input_tokens"),
        "completion_tokens": sent.get("output_tokens"),
        "prompt_tokens_details": sent.get("input_tokens_details"),
        "completion_tokens_details": sent.get("output_tokens_details"),
    }


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else ""
