import pytest
from program import loan_plan


def test_without_interest():
    assert loan_plan(300, 0, 100) == [200, 100, 0]


def test_last_payment_is_smaller():
    assert loan_plan(250, 0, 100) == [150, 50, 0]


def test_one_year():
    assert loan_plan(1000, 10, 1100) == [0]


def test_interest_shrinks_with_the_balance():
    assert loan_plan(1000, 10, 600) == [500, 0]


def test_three_years():
    assert loan_plan(1000, 20, 500) == [700, 340, 0]


def test_nothing_owed():
    assert loan_plan(0, 5, 10) == []


def test_hopeless():
    with pytest.raises(ValueError):
        loan_plan(1000, 10, 100)
