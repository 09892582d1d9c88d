"""Reports of finished runs, for people and for CI services."""
