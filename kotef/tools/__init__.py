"""Tools: what a model may do in the workspace."""
