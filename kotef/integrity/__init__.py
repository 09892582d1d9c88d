"""Integrity of the judge: pure rules on what judges the work, and on whether it can still say no."""
