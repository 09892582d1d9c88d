"""Exported runs: a run with all its state in one file, which another clone or machine can continue."""

from kotef.runs.portable.export import Exported, export_run
from kotef.runs.portable.takeover import Received, received

__all__ = ["Exported", "Received", "export_run", "received"]
