"""Smoothing of a series."""


def windows(values, size):
    """Every run of `size` neighbours, first to last; none when there are too few."""
    for start in range(len(values) - size + 1):
        yield values[start : start + size]


def sliding_means(values, size):
    """The mean of every window, rounded to two decimals."""
    for window in windows(values, size):
        yield round(sum(window) / size, 2)
