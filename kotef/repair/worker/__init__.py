"""The worker: code that runs in the project's own interpreter during a search."""
