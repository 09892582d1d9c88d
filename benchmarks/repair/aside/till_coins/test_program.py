import pytest
from program import till_coins


def test_nothing():
    assert till_coins(0) == {}


def test_one_coin():
    assert till_coins(50) == {50: 1}


def test_two_of_a_kind():
    assert till_coins(40) == {20: 2}


def test_mixed():
    assert till_coins(388) == {200: 1, 100: 1, 50: 1, 20: 1, 10: 1, 5: 1, 2: 1, 1: 1}


def test_other_coins():
    assert till_coins(9, [4, 1]) == {4: 2, 1: 1}


def test_not_payable():
    with pytest.raises(ValueError):
        till_coins(3, [2])


def test_no_coins():
    with pytest.raises(ValueError):
        till_coins(3, [])
