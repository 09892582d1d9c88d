"""What slipped: two edits: months are counted from one where a remainder needs zero."""

from datetime import date, timedelta

STYLE = "dates"
FUNCTION = "later_month"


def generate(rng):
    return date(2000, 1, 1) + timedelta(days=rng.randrange(0, 9000)), rng.randrange(0, 40)
