"""Pure parts of the probes: the changes to a tree that show whether its judge can still say no."""
