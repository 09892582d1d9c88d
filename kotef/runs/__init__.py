"""Runs: how one starts, works, resumes and ends, and what is kept of it."""
