"""Days people work."""

from datetime import date, timedelta

SATURDAY = 5


def is_work_day(day, holidays=()):
    """Monday to Friday, unless it is a holiday."""
    return day.weekday() < SATURDAY and day not in holidays


def work_days(first, last, holidays=()):
    """How many days from `first` to `last`, both counted, are worked."""
    count = 0
    day = first
    while day <= last:
        if is_work_day(day, holidays):
            count += 1
        day += timedelta(days=1)
    return count


def due(start, days, holidays=()):
    """The day on which a task of so many days of work, begun the day after `start`, is done."""
    day = start
    while days > 0:
        day += timedelta(days=1)
        if is_work_day(day, holidays):
            days -= 1
    return day


NEW_YEAR = date(2024, 1, 1)
