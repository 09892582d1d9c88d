"""Request prefixes of each role in a run, and whether the next request begins the same way."""

from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from kotef.context.prefix_fingerprint import Prefix
from kotef.files import write_atomic

FILE: Final = "prefixes.json"
"""File in the run's directory: role, model, and the prefix of its requests."""

_KEPT: Final = TypeAdapter(dict[str, dict[str, Prefix]])


class Prefixes:
    """The prefixes of one run, over its visits and its resumes; two roles never ask at the same time."""

    def __init__(self, run_dir: Path) -> None:
        """Reads what the run has sent so far from its directory."""
        self.path = run_dir / FILE
        self._kept = _read(self.path)

    def note(self, role: str, model: str, now: Prefix) -> tuple[str, ...]:
        """Keep it; returns by name what is no longer as in the request before, nothing for the first.

        Raises `NoSpaceError` or `WorkspaceError` when it cannot be written.
        """
        before = self._kept.get(role, {}).get(model)
        if before is None or before.sha256 != now.sha256:
            self._kept.setdefault(role, {})[model] = now
            write_atomic(self.path, _KEPT.dump_json(self._kept, indent=1))
        return () if before is None else now.changed(before)


def _read(path: Path) -> dict[str, dict[str, Prefix]]:
    """Read the file; a damaged one only loses the comparison with earlier requests."""
    try:
        return _KEPT.validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return {}
