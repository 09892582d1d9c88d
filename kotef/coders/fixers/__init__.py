"""Mechanical fixes: small edits for failures with exactly one sensible fix, made without a model."""
