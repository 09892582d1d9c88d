"""Operators: the kinds of edits that the search tries."""
