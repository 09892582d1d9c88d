"""Exported runs: a run with all its state in one file, which another clone or machine can continue."""

from kotef.runs.exports.importer import Received, received
from kotef.runs.exports.writer import Exported, export_run

__all__ = ["Exported", "Received", "export_run", "received"]
