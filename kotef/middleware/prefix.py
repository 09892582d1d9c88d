"""Does every request of a run begin alike, so that the endpoint can answer from its cache?"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import TypeAdapter, ValidationError

from kotef.context.fingerprint import Prefix
from kotef.middleware.setting import Setting
from kotef.workspace.paths import write_atomic

FILE: Final = "prefixes.json"
"""In the run directory: role, model, and the prefix of its requests."""

_KEPT: Final = TypeAdapter(dict[str, dict[str, Prefix]])


class PrefixWatch(AgentMiddleware[Any, Any, Any]):
    """Compares the system prompt and the tools of each request with those of the one before.

    Over the visits of a run, and its resumes.
    """

    def __init__(self, setting: Setting, role: str) -> None:
        """One instance a visit; what the run has sent up to now is read from its directory."""
        super().__init__()
        self.path, self.role, self.emit, self.visit = setting.run_dir / FILE, role, setting.emit, setting.visit
        self.kept = _read(self.path)
        self._last: tuple[str, Sequence[Any], Prefix] | None = None

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Say so where it drifts; the request goes out as it is."""
        model = str(getattr(request.model, "model_name", "") or type(request.model).__name__)
        now = self._prefix(request.system_message.text if request.system_message else "", request.tools)
        before = self.kept.get(self.role, {}).get(model)
        if before is None or before.sha256 != now.sha256:
            self.kept.setdefault(self.role, {})[model] = now
            write_atomic(self.path, _KEPT.dump_json(self.kept, indent=1))
        if before is not None and (changed := now.changed(before)):
            self.emit("prefix_drift", visit=self.visit, role=self.role, model=model, changed=list(changed))
        return await handler(request)

    def _prefix(self, system: str, tools: Sequence[BaseTool | dict[str, Any]]) -> Prefix:
        """Made once for as long as the tools are the same objects."""
        if self._last and self._last[0] == system and [*map(id, self._last[1])] == [*map(id, tools)]:
            return self._last[2]
        made = Prefix.of(system, [convert_to_openai_tool(tool) for tool in tools])
        self._last = system, list(tools), made
        return made


def _read(path: Path) -> dict[str, dict[str, Prefix]]:
    """A file that is no longer what was written costs the comparison with earlier requests, never the run."""
    try:
        return _KEPT.validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return {}
