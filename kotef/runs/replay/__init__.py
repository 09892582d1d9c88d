"""Replay: the record of what a run heard from outside, and runs played from it."""
