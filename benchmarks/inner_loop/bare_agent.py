"""How fast is `create_agent` with ChatOpenAI and nothing else?"""

import os
import sys
from typing import Any

from bare_openai import act


def view_file(path: str) -> str:
    """Read a text file; lines come numbered."""
    return act("view_file", {"path": path})


def edit_file(path: str, edits: list[dict[str, str]]) -> str:
    """Replace text in a file."""
    return act("edit_file", {"path": path, "edits": edits})


def run_command(command: str) -> str:
    """Run a shell command."""
    return act("run_command", {"command": command})


def main(goal: str) -> None:
    """Invoke it once."""
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="scripted", base_url=os.environ["OPENAI_BASE_URL"], api_key="none")  # type: ignore[arg-type]
    agent: Any = create_agent(model, [view_file, edit_file, run_command], system_prompt="You change files.")
    agent.invoke({"messages": [{"role": "user", "content": goal}]}, {"recursion_limit": 2000})


if __name__ == "__main__":
    main(sys.argv[1])
