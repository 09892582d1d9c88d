"""kotef: a coding agent that can be trusted to stop."""

__version__ = "0.1.0"
