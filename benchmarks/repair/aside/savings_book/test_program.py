import pytest
from program import SavingsBook


def test_nothing_saved():
    assert SavingsBook(6).end_month() == 0


def test_first_month_pays_nothing():
    book = SavingsBook(12)
    book.deposit(10_000)
    assert book.end_month() == 0


def test_second_month():
    book = SavingsBook(12)
    book.deposit(10_000)
    book.end_month()
    assert book.end_month() == 100


def test_interest_of_interest():
    book = SavingsBook(12)
    book.deposit(10_000)
    book.end_month()
    book.end_month()
    assert book.end_month() == 101


def test_withdrawal_lowers_the_interest():
    book = SavingsBook(12)
    book.deposit(10_000)
    book.end_month()
    book.withdraw(5_000)
    book.deposit(5_000)
    assert book.end_month() == 50


def test_late_deposit_waits():
    book = SavingsBook(12)
    book.deposit(1_000)
    book.end_month()
    book.deposit(99_000)
    assert book.end_month() == 10


def test_too_much():
    with pytest.raises(ValueError):
        SavingsBook(1).withdraw(1)


def test_balance():
    book = SavingsBook(12)
    book.deposit(500)
    book.withdraw(200)
    assert book.balance == 300
