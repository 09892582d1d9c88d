"""What slipped: one edit short: a day too few, and strangers share negative days."""

from datetime import date, timedelta

STYLE = "dates"
FUNCTION = "shared_days"


def booking(rng):
    first = date(2022, 5, 1) + timedelta(days=rng.randrange(0, 25))
    return first, first + timedelta(days=rng.randrange(0, 10))


def generate(rng):
    return booking(rng), booking(rng)
