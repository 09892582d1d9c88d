from datetime import date

from program import later_month


def test_same_month():
    assert later_month(date(2023, 5, 7), 0) == date(2023, 5, 7)


def test_within_the_year():
    assert later_month(date(2023, 1, 15), 3) == date(2023, 4, 15)


def test_to_december():
    assert later_month(date(2023, 10, 15), 2) == date(2023, 12, 15)


def test_over_new_year():
    assert later_month(date(2023, 11, 30), 2) == date(2024, 1, 30)


def test_whole_years():
    assert later_month(date(2020, 12, 1), 24) == date(2022, 12, 1)


def test_short_month():
    assert later_month(date(2023, 3, 31), 1) == date(2023, 4, 30)


def test_leap_february():
    assert later_month(date(2024, 1, 31), 1) == date(2024, 2, 29)
