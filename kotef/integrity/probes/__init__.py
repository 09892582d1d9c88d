"""Pure parts of the probes: what is changed in a tree to see whether its judge still says no."""
