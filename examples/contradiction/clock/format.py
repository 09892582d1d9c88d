"""Seconds as people read them."""


def readable(seconds):
    """`3661` → `1:01:01`."""
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
