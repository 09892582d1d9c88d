"""How fast is the loop that anybody would write first, on the stock openai client?"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": text,
            "parameters": {"type": "object", "properties": properties, "required": list(properties)},
        },
    }
    for name, text, properties in (
        ("edit_file", "Replace text in a file.", {"path": {"type": "string"}, "edits": {"type": "array"}}),
        ("run_command", "Run a shell command.", {"command": {"type": "string"}}),
        ("view_file", "Read a text file; lines come numbered.", {"path": {"type": "string"}}),
    )
]


def act(name: str, arguments: dict[str, Any]) -> str:
    """What a tool does."""
    if name == "view_file":
        lines = Path(arguments["path"]).read_text().splitlines()
        return "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))
    if name == "edit_file":
        path = Path(arguments["path"])
        for one in arguments["edits"]:
            path.write_text(path.read_text().replace(one["search"], one["replace"], 1))
        return "edited"
    done = subprocess.run(arguments["command"], shell=True, capture_output=True, text=True, check=False)
    return f"exit {done.returncode}\n{done.stdout}{done.stderr}"


def main(goal: str) -> None:
    """Ask, act, until an answer has no call."""
    import openai

    client = openai.OpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key="none")
    messages: list[Any] = [{"role": "system", "content": "You change files."}, {"role": "user", "content": goal}]
    while True:
        answer = client.chat.completions.create(model="scripted", messages=messages, tools=TOOLS)  # type: ignore[arg-type]
        message = answer.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return
        for call in message.tool_calls:
            assert call.type == "function"
            result = act(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


if __name__ == "__main__":
    main(sys.argv[1])
