"""Which answers does every contender get, and how long did it take to ask for the next one?

Usage: server.py LOOKUPS. Prints its base URL; a line on standard input makes it print what it has seen, as JSON, and
forget it. A model that is offered no `view_file` is asked for a plan, by kotef's planner.
"""

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Seen:
    """One scenario as the server saw it; seconds are wall time, `first` on the clock of `time.time`."""

    first: float = 0.0
    gaps: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    repeated: list[float] = field(default_factory=list)
    answered: float = 0.0
    last: bytes = b""
    turns: int = 0


FIX: list[tuple[str, dict[str, Any]]] = [
    ("view_file", {"path": "calc.py"}),
    ("view_file", {"path": "test_calc.py"}),
    ("edit_file", {"path": "calc.py", "edits": [{"search": "return a - b", "replace": "return a + b"}]}),
    ("run_command", {"command": "python -m unittest -q"}),
]


class Server:
    """Answers look-ups or the one-fix task, whichever the workspace's first file asks for."""

    def __init__(self, lookups: int) -> None:
        self.lookups = lookups
        self.seen = Seen()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, as many requests as come."""
        while head := await self._head(reader):
            length = int(head.get("content-length", 0))
            body = await reader.readexactly(length)
            arrived = time.perf_counter()
            request = json.loads(body)
            if "view_file" in json.dumps(request.get("tools") or []):
                self._note(request, body, arrived)
                calls = self._calls(request)
            else:
                self.seen.first = self.seen.first or time.time()
                calls = [(request["tools"][0]["function"]["name"], {"steps": [{"description": "do it"}]})]
            writer.write(_answer(request, calls, self.seen.turns))
            await writer.drain()
            self.seen.answered = time.perf_counter()

    def _note(self, request: dict[str, Any], body: bytes, arrived: float) -> None:
        seen = self.seen
        seen.first = seen.first or time.time()
        if seen.turns:
            seen.gaps.append(arrived - seen.answered)
        seen.sizes.append(len(body))
        told = json.dumps([request.get("tools"), request["messages"]]).encode()
        pairs = enumerate(zip(told, seen.last, strict=False))
        same = next((at for at, (one, other) in pairs if one != other), len(seen.last))
        if seen.last:
            seen.repeated.append(same / len(seen.last))
        seen.last = told
        seen.turns += 1

    def _calls(self, request: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        if request.get("tool_choice") == "none":
            return []
        asked = " ".join(str(message.get("content")) for message in request["messages"][:3])
        turn = self.seen.turns - 1
        if "look at every file" in asked:
            return [("view_file", {"path": f"notes/n{turn:03}.txt"})] if turn < self.lookups else []
        return [FIX[turn]] if turn < len(FIX) else []

    async def _head(self, reader: asyncio.StreamReader) -> dict[str, str]:
        lines = []
        while (line := await reader.readline()).strip():
            lines.append(line.decode("latin-1").strip())
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])} | (
            {"": lines[0]} if lines else {}
        )

    def report(self) -> str:
        """What was seen since the last report."""
        seen, self.seen = self.seen, Seen()
        return json.dumps({name: getattr(seen, name) for name in ("first", "gaps", "sizes", "repeated", "turns")})


def _answer(request: dict[str, Any], calls: list[tuple[str, dict[str, Any]]], turn: int) -> bytes:
    listed = [
        {
            "id": f"call_{turn}_{at}",
            "type": "function",
            "index": at,
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for at, (name, arguments) in enumerate(calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": "" if calls else "Done."}
    if calls:
        message["tool_calls"] = listed
    finish = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
    head = {"id": f"c{turn}", "created": 0, "model": "scripted"}
    if not request.get("stream"):
        body = json.dumps(
            head
            | {
                "object": "chat.completion",
                "choices": [{"index": 0, "message": message, "finish_reason": finish}],
                "usage": usage,
            }
        ).encode()
        return (b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)) + body
    chunks = [
        head
        | {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": message, "finish_reason": finish}]},
        head | {"object": "chat.completion.chunk", "choices": [], "usage": usage},
    ]
    events = b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + b"data: [DONE]\n\n"
    return (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        + b"%x\r\n%s\r\n0\r\n\r\n" % (len(events), events)
    )


async def main(lookups: int) -> None:
    """Serve until standard input ends."""
    server = Server(lookups)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    sys.stdout.write(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1\n")
    sys.stdout.flush()
    while await asyncio.to_thread(sys.stdin.readline):
        sys.stdout.write(server.report() + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
