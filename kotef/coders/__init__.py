"""Coders: what edits files in a visit, and the chain that asks them in turn."""
