"""What slipped: the wrong comparison: today's anniversary is put off for a year."""

from datetime import date, timedelta

STYLE = "dates"
FUNCTION = "days_to_go"


def generate(rng):
    born = date(1950, 1, 1) + timedelta(days=rng.randrange(0, 15000))
    today = date(2010, 1, 1) + timedelta(days=rng.randrange(0, 5000))
    if rng.random() < 0.3 and born.day < 29:
        today = born.replace(year=today.year)
    return born, today
