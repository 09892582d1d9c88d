"""What slipped: a boundary: Saturday is taken for a day of work."""

from datetime import date, timedelta

STYLE = "dates"
FUNCTION = "work_days"


def generate(rng):
    first = date(2020, 1, 1) + timedelta(days=rng.randrange(0, 2000))
    last = first + timedelta(days=rng.randrange(-2, 20))
    return first, last, [first + timedelta(days=rng.randrange(0, 20)) for _ in range(rng.randrange(0, 3))]
