"""The catalogue of tools, by subject."""
