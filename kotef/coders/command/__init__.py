"""Coders that kotef did not write: other agents' command lines."""
