from datetime import date

from program import days_to_go, next_anniversary


def test_later_this_year():
    assert next_anniversary(date(1990, 8, 5), date(2023, 5, 1)) == date(2023, 8, 5)


def test_next_year():
    assert next_anniversary(date(1990, 2, 5), date(2023, 5, 1)) == date(2024, 2, 5)


def test_today():
    assert next_anniversary(date(1990, 5, 1), date(2023, 5, 1)) == date(2023, 5, 1)


def test_leap_day():
    assert next_anniversary(date(2000, 2, 29), date(2023, 1, 1)) == date(2023, 3, 1)


def test_leap_day_in_a_leap_year():
    assert next_anniversary(date(2000, 2, 29), date(2024, 1, 1)) == date(2024, 2, 29)


def test_tomorrow():
    assert days_to_go(date(1980, 5, 2), date(2023, 5, 1)) == 1


def test_no_days_to_go():
    assert days_to_go(date(1980, 5, 2), date(2023, 5, 2)) == 0
