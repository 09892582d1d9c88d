"""Probes: what is changed for a moment to learn whether the judge of a run can still say no."""
