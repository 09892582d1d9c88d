"""A tiny MCP server on standard input and output, as its own process: the wire format, and no library."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

TOOLS = [
    {
        "name": "add",
        "description": "Add two numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    },
    {"name": "echo", "inputSchema": {"type": "object", "additionalProperties": True}},
    {
        "name": "environment",
        "description": "Say a variable.",
        "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
    {"name": "fail", "inputSchema": {"type": "object"}},
    {"name": "flood", "inputSchema": {"type": "object"}},
    {"name": "pid", "inputSchema": {"type": "object"}},
    {"name": "quit", "inputSchema": {"type": "object"}},
    {"name": "touch.file", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}},
    {"name": "wait", "inputSchema": {"type": "object"}},
]


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of one tool."""
    if name == "add":
        return said(str(arguments["a"] + arguments["b"]))
    if name == "echo":
        return said(json.dumps(arguments, sort_keys=True))
    if name == "environment":
        return said(os.environ.get(arguments["name"], "unset"))
    if name == "flood":
        return said("word " * 50_000)
    if name == "pid":
        return said(str(os.getpid()))
    if name == "touch.file":
        with Path(arguments["path"]).open("a") as file:
            file.write("touched\n")
        return said("done")
    if name == "wait":
        time.sleep(60)
    if name == "quit":
        sys.exit(3)
    return {**said("it cannot be done"), "isError": True}


def said(text: str) -> dict[str, Any]:
    """A result in words."""
    return {"content": [{"type": "text", "text": text}]}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The result of one request."""
    match request["method"]:
        case "initialize":
            version = request["params"]["protocolVersion"]
            server = {"name": "tiny", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            half = len(TOOLS) // 2
            first = request.get("params", {}).get("cursor") is None
            return {"tools": TOOLS[:half], "nextCursor": "2"} if first else {"tools": TOOLS[half:]}
        case "tools/call":
            return call(request["params"]["name"], request["params"].get("arguments") or {})
    return {}


def main() -> None:
    """Answer until the input ends; a note of each start and end goes to the file named first, if one is."""
    notes = Path(sys.argv[1] if len(sys.argv) > 1 else os.devnull)
    with notes.open("a") as file:
        file.write("started\n")
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request and "method" in request:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer(request)}) + "\n")
            sys.stdout.flush()
    with notes.open("a") as file:
        file.write("ended\n")


if __name__ == "__main__":
    main()
