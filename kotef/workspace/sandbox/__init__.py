"""The sandbox: what a command may touch, and the mechanisms that enforce it."""
