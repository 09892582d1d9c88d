"""Command lines: their grammar, their wrappers, the purpose of each program, and what may run."""
