import pytest
from program import Account


def test_new_account():
    account = Account("ann")
    assert (account.balance, account.history) == (0, [])


def test_deposit():
    account = Account("ann")
    account.deposit(500)
    assert account.balance == 500


def test_withdraw():
    account = Account("ann")
    account.deposit(500)
    assert account.withdraw(200)
    assert account.balance == 300


def test_no_overdraft():
    account = Account("bob")
    account.deposit(100)
    assert not account.withdraw(101)
    assert account.balance == 100


def test_overdraft():
    account = Account("cem", limit=300)
    assert account.withdraw(300)
    assert account.balance == -300


def test_overdraft_ends():
    account = Account("cem", limit=300)
    assert not account.withdraw(301)


def test_available():
    account = Account("dan", limit=50)
    account.deposit(20)
    assert account.available() == 70


def test_history():
    account = Account("eve")
    account.deposit(10)
    account.withdraw(4)
    account.withdraw(100)
    assert account.history == [("deposit", 10), ("withdraw", 4)]


def test_nothing_is_no_deposit():
    with pytest.raises(ValueError):
        Account("fay").deposit(0)
