"""Web access for the model."""
