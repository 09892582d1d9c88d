"""The nodes of the graph: planner, coder, verifier, snitch, and their parts."""
