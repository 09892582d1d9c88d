"""Checks: detection, the runners and their reports, and the verdict."""
