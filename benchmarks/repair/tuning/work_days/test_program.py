from datetime import date

from program import NEW_YEAR, due, work_days


def test_one_work_day():
    assert work_days(date(2024, 3, 6), date(2024, 3, 6)) == 1


def test_monday_to_friday():
    assert work_days(date(2024, 3, 4), date(2024, 3, 8)) == 5


def test_a_week():
    assert work_days(date(2024, 3, 4), date(2024, 3, 10)) == 5


def test_sunday():
    assert work_days(date(2024, 3, 10), date(2024, 3, 10)) == 0


def test_holiday():
    assert work_days(date(2024, 1, 1), date(2024, 1, 5), [NEW_YEAR]) == 4


def test_backwards():
    assert work_days(date(2024, 3, 8), date(2024, 3, 4)) == 0


def test_due_within_the_week():
    assert due(date(2024, 3, 4), 3) == date(2024, 3, 7)


def test_due_over_the_weekend():
    assert due(date(2024, 3, 7), 2) == date(2024, 3, 11)


def test_due_at_once():
    assert due(date(2024, 3, 7), 0) == date(2024, 3, 7)
