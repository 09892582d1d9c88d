"""Failures of a run: history, visits, outcomes, loops, mistakes, and what is remembered of them."""
