"""Traces of runs for OpenTelemetry and LangSmith."""
