"""Runs in one file: packed with all their state here, taken up again in another clone, on another machine."""

from kotef.runs.portable.export import Exported, export_run
from kotef.runs.portable.takeover import Received, received

__all__ = ["Exported", "Received", "export_run", "received"]
