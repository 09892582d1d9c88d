"""Lows and highs so far."""


def running_extremes(values):
    """(lowest, highest) of all values up to each one."""
    low = None
    high = None
    for value in values:
        if low is None or value < low:
            low = value
        if high is None or value > high:
            high = value
        yield low, high


def widest_gap(values):
    """The largest difference between a lowest and a highest so far; 0 without values."""
    return max((high - low for low, high in running_extremes(values)), default=0)
