import pytest
from program import day_of_year, is_leap, month_length


def test_common_year():
    assert not is_leap(2023)


def test_fourth_year():
    assert is_leap(2024)


def test_century():
    assert not is_leap(1900)


def test_fourth_century():
    assert is_leap(2000)


def test_february():
    assert [month_length(year, 2) for year in (1999, 2000, 2004, 2100)] == [28, 29, 29, 28]


def test_other_months():
    assert [month_length(2021, month) for month in (1, 4, 12)] == [31, 30, 31]


def test_first_of_march():
    assert day_of_year(2023, 3, 1) == 60


def test_last_day():
    assert day_of_year(2000, 12, 31) == 366


def test_no_such_month():
    with pytest.raises(ValueError):
        month_length(2020, 13)
