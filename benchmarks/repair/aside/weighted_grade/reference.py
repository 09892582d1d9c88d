"""Marks of a course, each with a weight."""


def weighted_grade(marks):
    """The mean of (mark, weight) pairs, rounded to one decimal; None without any weight."""
    points = 0
    weights = 0
    for mark, weight in marks:
        points += mark * weight
        weights += weight
    if weights == 0:
        return None
    return round(points / weights, 1)
