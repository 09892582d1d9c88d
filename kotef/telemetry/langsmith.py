"""Traces for LangSmith, and their delivery before the process ends."""

import os
import threading
from collections.abc import Mapping
from typing import Any, Final

from kotef.redaction import redactor, server_of_url

SECONDS: Final = 2.0
"""How long the end of a run waits for what is not sent yet."""
PUBLIC: Final = "https://api.smith.langchain.com"
NAMES: Final = ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING")
"""Which variable counts: the first that is set, as the library reads them."""


def traced_by(env: Mapping[str, str] = os.environ) -> str:
    """The variable that switches LangSmith on; empty if none does."""
    name = next((name for name in NAMES if env.get(name, "").strip()), "")
    return name if env.get(name) == "true" else ""


def leaves(env: Mapping[str, str] = os.environ) -> str:
    """The notice that prompts leave this machine, and for where; empty if they do not."""
    name = traced_by(env)
    if not name:
        return ""
    url = env.get("LANGSMITH_ENDPOINT") or env.get("LANGCHAIN_ENDPOINT") or PUBLIC
    host = server_of_url(url).rpartition("://")[2]
    return f"{name} is set: prompts and code are sent to LangSmith at {host}"


def hide_secrets() -> None:
    """Before the first trace: what is sent passes the redactor of this run."""
    from langsmith import Client, run_trees

    hidden = redactor()

    def without(values: dict[str, Any]) -> dict[str, Any]:
        return hidden.whole(values)

    run_trees._CLIENT = Client(anonymizer=without)  # noqa: SLF001  the one place langchain takes its client from


def send_rest() -> str:
    """Wait a moment for what is not sent yet; why not all was, in one line, or nothing."""
    from langchain_core.tracers.langchain import wait_for_all_tracers

    waiting = threading.Thread(target=wait_for_all_tracers, daemon=True, name="kotef-langsmith")
    waiting.start()
    waiting.join(SECONDS)
    return f"it did not accept them within {SECONDS:g} s" if waiting.is_alive() else ""
