"""The calendar, by hand."""

LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


def is_leap(year):
    """Every fourth year, but not the full centuries, but every fourth of those again."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_length(year, month):
    """Days of a month, 1 to 12."""
    if not 1 <= month <= 12:
        raise ValueError(f"no month {month}")
    if month == 2 and is_leap(year):
        return 29
    return LENGTHS[month - 1]


def day_of_year(year, month, day):
    """1 for the first of January."""
    return sum(month_length(year, earlier) for earlier in range(1, month)) + day
