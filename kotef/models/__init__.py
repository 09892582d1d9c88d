"""Models: endpoints, their errors, and their answers."""
