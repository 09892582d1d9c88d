"""Billing dates."""

from datetime import date

LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


def later_month(day, months):
    """The same day some months later; the last day of a shorter month where it does not exist."""
    index = day.month + months
    year = day.year + index // 12
    month = index % 12
    longest = LENGTHS[month - 1]
    if month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        longest = 29
    return date(year, month, min(day.day, longest))
