"""Which scripted endpoints stand in for the models that the documentation speaks of?"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from support.loop import Agent, plan
from support.openai_server import OVERFLOWS, Call, Reply, Request, call, calls, text, whole, without_usage

LOOK: Final = call("view_file", path="shop/cart.py")
MEND: Final = call(
    "edit_file", path="shop/cart.py", edits=[{"search": "return total // 100", "replace": "return total // 10"}]
)
SAID: Final = text("`discount` takes off ten percent now.")


def _planner(_: Request, number: int) -> Reply:
    return plan("take off ten percent in `discount`", hypothesis="it divides by 100") if not number else plan("again")


def _server(*turns: Reply, model: str = "scripted", **more: Any) -> Callable[[], dict[str, Any]]:
    """What `OpenAIServer` is made with: a coder of these turns behind a planner that knows what is wrong."""
    return lambda: {"script": Agent(coder=[*turns, SAID], planner=_planner), "models": (model,), **more}


def _as_text(made: Call) -> Reply:
    """A call as models write it whose server does not read their format."""
    import json

    assert isinstance(made.arguments, dict)
    return text(f"<tool_call>\n{json.dumps({'name': made.name, 'arguments': made.arguments})}\n</tool_call>")


def _drafter() -> dict[str, Any]:
    """What drafts two tickets' worth of the same: one to look at, one to keep."""
    ticket = {
        "title": "Add an undo command",
        "objective": "Undo takes the last code back.",
        "done": ["`python -m pytest -q` is green"],
        "checks": ["python -m pytest -q"],
        "affected": ["shop/cart.py"],
    }
    drafted = calls(call("DraftAnswer", purpose="A shop.", practices=["Small functions."], tickets=[ticket]))
    return {"script": [drafted, drafted]}


def _agents() -> dict[str, Any]:
    """What an agent of the page's own asks: for whole files, as JSON."""
    import json

    cart = (Path(__file__).parents[2] / "examples" / "discount" / "shop" / "cart.py").read_text()
    files = {"shop/cart.py": cart.replace("return total // 100", "return total // 10")}
    return {"script": [text(f"Here they are: {json.dumps(files)}")]}


def _examined(request: Request, _: int) -> Reply:
    """What a llama.cpp server says to the doctor's two questions."""
    headers = {"Server": "llama.cpp"}
    if "ReadyAnswer" in request.tools:
        return replace(calls(call("ReadyAnswer", word="ready")), headers=headers)
    if any(message["role"] == "tool" for message in request.messages):
        return replace(text("done"), headers=headers)
    return replace(calls(call("ping", word="hello")), reasoning="I call it.", headers=headers)


ENDPOINTS: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "a model": _server(calls(LOOK), calls(MEND)),
    "llama.cpp": _server(calls(LOOK), calls(MEND), model="qwen3-coder", refuses=("json_schema",)),
    "vllm": _server(calls(LOOK), calls(MEND), model="Qwen/Qwen3-Coder"),
    "ollama": _server(whole(calls(LOOK)), whole(calls(MEND)), model="qwen3-coder:30b"),
    "lm studio": _server(without_usage(calls(LOOK)), without_usage(calls(MEND)), model="qwen3-coder-30b"),
    "calls as text": _server(_as_text(LOOK), _as_text(MEND), model="small"),
    "write_file": _server(
        calls(LOOK), calls(call("write_file", path="shop/cart.py", content="def discount(): ...\n")), calls(MEND)
    ),
    "count_lines": _server(calls(call("count_lines", path="shop/cart.py")), calls(LOOK), calls(MEND)),
    "the doctor's": lambda: {"script": _examined, "models": ("qwen3-coder",)},
    "a drafter": _drafter,
    "an agent's": _agents,
}
"""Name, as a page gives it, → the arguments of its server."""

assert OVERFLOWS.keys() >= {"vllm", "llama.cpp", "ollama"}, "each dialect is one that the tests have"
