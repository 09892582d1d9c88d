"""Search for a small edit that makes failing Python tests pass, without a model."""
