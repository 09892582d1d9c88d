"""Middleware: the guards of the inner loop, one file each."""
