"""How are whole runs tested over real HTTP without a model? With a small OpenAI-compatible server on loopback.

    with OpenAIServer([calls(call("view_file", path="a.py")), text("done")]) as server:
        model = make_model("any", base_url=server.base_url, api_key=None)
        ...
    assert server.calls == 2 and not server.overrun
    assert "a.py" in server.requests[1].text

A script is a list of replies, or a function of (request, n) that returns one; n counts from 0. A reply is made by a
builder (`text`, `calls`, `status`, `rate_limited`, `html`, `empty`, `invalid_json`, `closed`, `overflow`) and changed
by a modifier (`slow`, `paced`, `cut`, `unfinished`, `at_length`, `without_usage`, `whole`). It streams when the request
asks for it and is one JSON object otherwise. A script that runs out answers 500 and sets `overrun`.

By hand: `python tests/support/openai_server.py --script replies.json --port 8080`, where the file is a list of objects
with the fields of `Reply`: `[{"calls": [{"name": "view_file", "arguments": {"path": "a.py"}}]}, {"content": "done"}]`.
"""

from __future__ import annotations

import argparse
import json
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal, Self
from uuid import uuid4

PIECE = 12
"""Characters per streamed piece of text or of arguments."""


@dataclass(frozen=True)
class Call:
    """One tool call of a reply."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    """A dict is sent as JSON; a string is sent as it is, well-formed or not."""
    id: str | None = "fresh"
    """`fresh` is replaced by a unique id; None or "" is what some servers send."""
    fields: dict[str, Any] = field(default_factory=dict)
    """What the server adds to the call."""


@dataclass(frozen=True)
class Reply:
    """What the server answers to one request. Fields that make a fault win over the message."""

    content: str | None = None
    calls: tuple[Call, ...] = ()
    reasoning: str = ""
    """Sent as `reasoning_content`, as vLLM, llama.cpp and DeepSeek do."""
    fields: dict[str, Any] = field(default_factory=dict)
    """What the server adds to the message; in a stream a text comes in pieces, everything else at once."""
    fingerprint: str = ""
    """Sent as `system_fingerprint`."""
    usage_in: str = "chunk"
    """`choice`: the usage stands in the last choice of a stream, as with Moonshot."""
    finish_reason: str | None = "auto"
    """`auto` is `tool_calls` or `stop`; None is never sent."""
    tokens: tuple[int, int] | None = (100, 20)
    """Prompt and completion tokens of the usage; None sends no usage."""
    tokens_cached: int = 0
    """Part of the prompt tokens, sent as `prompt_tokens_details.cached_tokens`."""
    delay: float = 0.0
    """Seconds before the first byte."""
    pace: float = 0.0
    """Seconds before each streamed chunk."""
    cut_after: int | None = None
    """Stop the stream after that many chunks, without finish reason and `[DONE]`."""
    cut_cleanly: bool = False
    """Whether a cut stream ends as HTTP wants it; else the connection just drops."""
    stream: bool = True
    """False ignores `stream: true` and answers one JSON object."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    """Sent as it is instead of a message."""
    content_type: str = "application/json"
    """Of `body`."""
    close: bool = False
    """Close the connection without a word."""


def text(content: str) -> Reply:
    """An answer in words."""
    return Reply(content=content)


def call(name: str, /, **arguments: Any) -> Call:
    """One tool call, for `calls`; `Call(name, '{"half": ')` sends arguments as they are."""
    return Call(name, arguments)


def calls(*tool_calls: Call, content: str | None = None) -> Reply:
    """An answer that calls tools, with words before them if `content` is given."""
    return Reply(content=content, calls=tool_calls)


def status(http: int, message: str = "", *, headers: dict[str, str] | None = None, **error: Any) -> Reply:
    """An HTTP error with OpenAI's body; `error` adds or replaces fields of it (`code=…`, `param=…`, `type=…`)."""
    error = {
        "message": message or f"scripted status {http}",
        "type": "scripted_error",
        "param": None,
        "code": None,
    } | error
    return Reply(status=http, headers=headers or {}, body=json.dumps({"error": error}))


def rate_limited(retry_after: float | str | None = None) -> Reply:
    """HTTP 429; `retry_after` is seconds or an HTTP date."""
    return status(429, "slow down", headers={} if retry_after is None else {"Retry-After": str(retry_after)})


def html(code: int = 200) -> Reply:
    """The page of a proxy or a captive portal."""
    page = "<!DOCTYPE html><html><body><h1>Welcome to the guest network</h1></body></html>"
    return Reply(status=code, body=page, content_type="text/html")


def empty() -> Reply:
    """HTTP 200 and not one byte."""
    return Reply(body="")


def invalid_json() -> Reply:
    """HTTP 200 and a body that stops in the middle of an object."""
    return Reply(body='{"id": "x", "choices": [{"message": {"role": "assis')


def no_choices() -> Reply:
    """Well-formed JSON without an answer in it."""
    return Reply(body='{"id": "x", "object": "chat.completion", "choices": []}')


def closed() -> Reply:
    """The connection closes before the first byte."""
    return Reply(close=True)


OVERFLOWS: dict[str, tuple[int, dict[str, Any]]] = {
    "openai": (
        400,
        {
            "error": {
                "message": "This model's maximum context length is 8192 tokens. However, your messages resulted in "
                "9001 tokens. Please reduce the length of the messages.",
                "type": "invalid_request_error",
                "param": "messages",
                "code": "context_length_exceeded",
            }
        },
    ),
    "vllm": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens "
            "(4500 in the messages, 500 in the completion). Please reduce the length of the messages or completion.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    "llama.cpp": (
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size, try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 5000,
                "n_ctx": 4096,
            }
        },
    ),
    "ollama": (
        500,
        {
            "error": {
                "message": "input length exceeds maximum context length",
                "type": "api_error",
                "param": None,
                "code": None,
            }
        },
    ),
}
"""Status and body by which each server says that the conversation is too long."""


def overflow(server: Literal["openai", "vllm", "llama.cpp", "ollama"] = "openai") -> Reply:
    """The conversation is too long, in the words of `server`."""
    code, body = OVERFLOWS[server]
    return Reply(status=code, body=json.dumps(body))


def slow(reply: Reply, seconds: float) -> Reply:
    """`reply` after `seconds` of silence."""
    return replace(reply, delay=seconds)


def paced(reply: Reply, seconds: float = 1.0) -> Reply:
    """`reply` in a stream with `seconds` before each chunk: one token a second."""
    return replace(reply, pace=seconds)


def cut(reply: Reply, after: int, *, cleanly: bool = False) -> Reply:
    """`reply` in a stream that ends after `after` chunks; the first carries the role, a tool call's second its name."""
    return replace(reply, cut_after=after, cut_cleanly=cleanly)


def unfinished(reply: Reply) -> Reply:
    """`reply` in full, but without a finish reason."""
    return replace(reply, finish_reason=None)


def at_length(reply: Reply) -> Reply:
    """`reply` with finish reason `length`: the model ran into its output limit."""
    return replace(reply, finish_reason="length")


def without_usage(reply: Reply) -> Reply:
    """`reply` from a server that reports no usage."""
    return replace(reply, tokens=None)


def whole(reply: Reply) -> Reply:
    """`reply` as one JSON object even when a stream was asked for."""
    return replace(reply, stream=False)


def reply_from(spec: dict[str, Any]) -> Reply:
    """A reply from its JSON form: the fields of `Reply`; an unknown one is a TypeError."""
    tool_calls = tuple(Call(**one) for one in spec.get("calls", ()))
    tokens = {"tokens": tuple(spec["tokens"])} if spec.get("tokens") else {}
    return Reply(**(spec | {"calls": tool_calls} | tokens))


@dataclass(frozen=True)
class Request:
    """One chat completion request as it arrived."""

    body: dict[str, Any]
    headers: dict[str, str]
    """Names in lower case."""
    at: float
    """Seconds on `time.monotonic` when it was read."""
    raw: bytes = b""
    """The bytes of the body."""
    query: str = ""
    """What follows the question mark in its address."""
    path: str = ""
    answer_id: str = field(default_factory=lambda: f"chatcmpl-{uuid4().hex[:12]}")
    """The id of its answer."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation sent."""
        return list(self.body.get("messages", ()))

    @property
    def text(self) -> str:
        """All that the model would see of the conversation, for `in` assertions; strings are not JSON-escaped."""
        return "\n".join(_strings(self.messages))

    @property
    def tools(self) -> list[str]:
        """Names of the tools offered."""
        return [tool["function"]["name"] for tool in self.body.get("tools") or ()]


Script = Sequence[Reply] | Callable[[Request, int], Reply]


class OpenAIServer:
    """The server; `with` starts it on a free loopback port and stops it, open connections included."""

    list_status = 200
    """Of `GET /models`."""
    paths = ("/chat/completions",)
    """Ends of the paths that take a request for an answer."""

    def __init__(
        self,
        script: Script = (),
        *,
        models: Sequence[str] = ("scripted",),
        api_key: str | None = None,
        refuses: Collection[str] = (),
        model_list: str | None = None,
        port: int = 0,
    ) -> None:
        """`api_key`: anything else gets 401. `refuses`: names of body fields, or the word `json_schema`, that get 400.

        Neither uses up a reply of the script, but both are in `requests` and counted in `calls`. `model_list`:
        the body of `GET /models`, instead of one that lists `models`.
        """
        self.script = script
        self.models = models
        self.api_key = api_key
        self.refuses = refuses
        self.model_list = model_list
        self.requests: list[Request] = []
        """Chat completion requests in the order of arrival."""
        self.lookups = 0
        """Requests for the list of models."""
        self.overrun = False
        """True once a request came for which the script had no reply."""
        self.stopping = threading.Event()
        self._port = port
        self._answered = 0
        self._arrival = threading.Condition()
        self._http: _HTTPServer | None = None

    @property
    def calls(self) -> int:
        """Chat completion requests received, refused ones included."""
        return len(self.requests)

    @property
    def connections(self) -> int:
        """TCP connections accepted so far."""
        return self._http.accepted if self._http else 0

    @property
    def base_url(self) -> str:
        """What goes into `OPENAI_BASE_URL`."""
        assert self._http is not None, "the server is not running"
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._http = _HTTPServer(self, self._port)
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._http is not None
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()

    def wait_for_calls(self, count: int, seconds: float = 10.0) -> None:
        """Return once `count` requests have arrived; TimeoutError after `seconds`."""
        with self._arrival:
            if not self._arrival.wait_for(lambda: len(self.requests) >= count, seconds):
                raise TimeoutError(f"{len(self.requests)} of {count} requests after {seconds} s")

    def reply_to(self, request: Request) -> Reply:
        """Record the request and say what to answer."""
        with self._arrival:
            self.requests.append(request)
            self._arrival.notify_all()
            if self.api_key is not None and request.headers.get("authorization") != f"Bearer {self.api_key}":
                return status(401, "Incorrect API key provided.", code="invalid_api_key")
            if refused := next((name for name in self.refuses if _mentions(request.body, name)), None):
                return status(400, f"Unsupported parameter: '{refused}'", param=refused, code="unsupported_parameter")
            n = self._answered
            self._answered += 1
            if callable(self.script):
                return self.script(request, n)
            if n < len(self.script):
                return self.script[n]
            self.overrun = True
            return status(500, f"the script has {len(self.script)} replies; this is request {n + 1}")


class _HTTPServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, owner: OpenAIServer, port: int) -> None:
        self.owner = owner
        self.open: set[socket.socket] = set()
        self.accepted = 0
        super().__init__(("127.0.0.1", port), _Handler)

    def server_bind(self) -> None:
        """Without the name look-up of the class above, which can take seconds."""
        socket.socket.bind(self.socket, self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "localhost", self.server_address[1]

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self.open.add(connection)
        self.accepted += 1
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        for connection in list(self.open):
            _drop(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of the server; anything else is shown."""
        import sys

        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _HTTPServer

    def do_GET(self) -> None:
        if not self.path.endswith("/models"):
            self._send(status(404, f"no such path: {self.path}"))
            return
        owner = self.server.owner
        owner.lookups += 1
        if owner.list_status != 200:
            self._send(status(owner.list_status, "no such resource"))
            return
        if owner.api_key is not None and self.headers.get("Authorization") != f"Bearer {owner.api_key}":
            self._send(status(401, "Incorrect API key provided."))
            return
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "scripted"} for name in owner.models]
        body = json.dumps({"object": "list", "data": listed}) if owner.model_list is None else owner.model_list
        self._send(Reply(body=body))

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        raw = self.rfile.read(length)
        if len(raw) < length:  # a client that was killed while it asked
            self.close_connection = True
            return
        path, _, query = self.path.partition("?")
        if not path.endswith(self.server.owner.paths):
            self._send(status(404, f"no such path: {self.path}"))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(body=json.loads(raw), headers=headers, at=time.monotonic(), raw=raw, query=query, path=path)
        reply = self.server.owner.reply_to(request)
        if reply.delay:
            self.server.owner.stopping.wait(reply.delay)
        if reply.close:
            self.close_connection = True
            _drop(self.connection)
        elif reply.body is not None:
            self._send(reply)
        elif reply.stream and request.body.get("stream"):
            self._stream(reply, request)
        else:
            self._send(replace(reply, body=json.dumps(_completion(reply, request))))

    def _send(self, reply: Reply) -> None:
        payload = (reply.body or "").encode()
        self._begin(reply)
        for name, value in ({"Content-Type": reply.content_type} | reply.headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload)))
        # Headers and body leave in one write: two would wait for each other's acknowledgement.
        self._headers_buffer.append(b"\r\n" + payload)  # type: ignore[attr-defined]
        self.flush_headers()

    def _begin(self, reply: Reply) -> None:
        """The status; a server that names itself names only itself."""
        if "Server" in reply.headers:
            self.send_response_only(reply.status)
        else:
            self.send_response(reply.status)

    def _stream(self, reply: Reply, request: Request) -> None:
        self._begin(reply)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, chunk in enumerate(_chunks(reply, request)):
            if number == reply.cut_after:
                if not reply.cut_cleanly:
                    self.close_connection = True
                    _drop(self.connection)
                    return
                break
            if reply.pace and self.server.owner.stopping.wait(reply.pace):
                return
            self._event(json.dumps(chunk))
        else:
            self._event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, payload: str) -> None:
        event = f"data: {payload}\n\n".encode()
        self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the class above
        """Silence: tests read `requests`."""


def _chunks(reply: Reply, request: Request) -> Iterator[dict[str, Any]]:
    head = {
        "id": request.answer_id,
        "object": "chat.completion.chunk",
        "created": 0,
        "model": request.body.get("model"),
        **({"system_fingerprint": reply.fingerprint} if reply.fingerprint else {}),
    }

    def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.reasoning):
        yield chunk({"reasoning_content": piece})
    for name, value in reply.fields.items():
        for part in _pieces(value) if isinstance(value, str) else [value]:
            yield chunk({name: part})
    for piece in _pieces(reply.content or ""):
        yield chunk({"content": piece})
    for index, one in enumerate(_tool_calls(reply)):
        opening = one | {"index": index, "function": one["function"] | {"arguments": ""}}
        yield chunk({"tool_calls": [opening]})
        for piece in _pieces(one["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    if reply.usage_in == "choice" and reply.tokens is not None:
        last = chunk({}, _finish_reason(reply))
        last["choices"][0]["usage"] = _usage(reply)
        yield last
        return
    if reply.finish_reason is not None:
        yield chunk({}, _finish_reason(reply))
    if reply.tokens is not None and (request.body.get("stream_options") or {}).get("include_usage"):
        yield head | {"choices": [], "usage": _usage(reply)}


def _completion(reply: Reply, request: Request) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    message |= reply.fields
    if reply.calls:
        message["tool_calls"] = _tool_calls(reply)
    completion = {
        "id": request.answer_id,
        "object": "chat.completion",
        "created": 0,
        "model": request.body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": _finish_reason(reply)}],
        **({"system_fingerprint": reply.fingerprint} if reply.fingerprint else {}),
    }
    return completion if reply.tokens is None else completion | {"usage": _usage(reply)}


def _tool_calls(reply: Reply) -> list[dict[str, Any]]:
    listed = []
    for one in reply.calls:
        arguments = one.arguments if isinstance(one.arguments, str) else json.dumps(one.arguments)
        call_id = f"call_{uuid4().hex[:24]}" if one.id == "fresh" else one.id
        function = {"name": one.name, "arguments": arguments}
        listed.append({"id": call_id, "type": "function", "function": function} | one.fields)
    return listed


def _finish_reason(reply: Reply) -> str | None:
    if reply.finish_reason == "auto":
        return "tool_calls" if reply.calls else "stop"
    return reply.finish_reason


def _usage(reply: Reply) -> dict[str, Any]:
    prompt, completion = reply.tokens or (0, 0)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": reply.tokens_cached},
    }


def _pieces(content: str) -> list[str]:
    return [content[start : start + PIECE] for start in range(0, len(content), PIECE)]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def _mentions(body: dict[str, Any], name: str) -> bool:
    """Whether the request uses the field `name`, or asks for the response format of that name."""
    return bool(body.get(name)) or (body.get("response_format") or {}).get("type") == name


def _drop(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the other side was quicker


def main() -> None:
    """Serve a script from a file until Ctrl-C."""
    parser = argparse.ArgumentParser(description="A scripted OpenAI-compatible server on loopback.")
    parser.add_argument("--script", type=Path, required=True, help="JSON: a list of replies, see the top of this file")
    parser.add_argument("--port", type=int, default=8080)
    options = parser.parse_args()
    script = [reply_from(spec) for spec in json.loads(options.script.read_text())]
    with OpenAIServer(script, port=options.port) as server:
        print(f"OPENAI_BASE_URL={server.base_url}", flush=True)  # noqa: T201 - a command says where it listens
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print(f"{server.calls} request(s)")  # noqa: T201 - see above


if __name__ == "__main__":
    main()
