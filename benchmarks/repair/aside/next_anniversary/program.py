"""When to bake the next cake."""

from datetime import date


def in_year(day, year):
    """The same day in another year; the 29th of February becomes the 1st of March where there is none."""
    try:
        return day.replace(year=year)
    except ValueError:
        return date(year, 3, 1)


def next_anniversary(born, today):
    """The first anniversary that is not over yet; today counts."""
    this_year = in_year(born, today.year)
    if this_year <= today:
        return in_year(born, today.year + 1)
    return this_year


def days_to_go(born, today):
    """0 on the day itself."""
    return (next_anniversary(born, today) - today).days
