import pytest
from program import Bank


def make(fee=0):
    bank = Bank(fee)
    bank.open("ann", 1000)
    bank.open("bob")
    return bank


def test_open_twice():
    with pytest.raises(KeyError):
        make().open("ann")


def test_transfer():
    bank = make()
    assert bank.transfer("ann", "bob", 300)
    assert bank.accounts == {"ann": 700, "bob": 300}


def test_too_much():
    bank = make()
    assert not bank.transfer("ann", "bob", 1001)
    assert bank.accounts == {"ann": 1000, "bob": 0}


def test_two_transfers():
    bank = make()
    bank.transfer("ann", "bob", 300)
    bank.transfer("ann", "bob", 100)
    assert bank.accounts == {"ann": 600, "bob": 400}


def test_fee():
    bank = make(fee=5)
    bank.transfer("ann", "bob", 100)
    assert bank.accounts["ann"] == 895
    assert bank.earned == 5


def test_fee_must_be_payable():
    bank = make(fee=5)
    assert not bank.transfer("ann", "bob", 996)


def test_money_is_not_lost():
    bank = make(fee=5)
    bank.transfer("ann", "bob", 400)
    bank.transfer("bob", "ann", 100)
    assert bank.total() == 1000


def test_unknown():
    with pytest.raises(KeyError):
        make().transfer("zoe", "bob", 1)
