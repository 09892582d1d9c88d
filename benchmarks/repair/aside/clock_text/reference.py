"""Lengths of time for people."""


def clock_text(seconds):
    """'1:02:03', or '2:03' below an hour; a minus sign in front of negative lengths."""
    sign = "-" if seconds < 0 else ""
    seconds = abs(seconds)
    hours = seconds // 3600
    minutes = seconds // 60 % 60
    rest = seconds % 60
    if hours:
        return f"{sign}{hours}:{minutes:02}:{rest:02}"
    return f"{sign}{minutes}:{rest:02}"
