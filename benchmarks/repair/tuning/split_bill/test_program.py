import pytest
from program import split_bill


def test_alone():
    assert split_bill(999, 1) == [999]


def test_even():
    assert split_bill(900, 3) == [300, 300, 300]


def test_one_odd_cent():
    assert split_bill(1000, 3) == [334, 333, 333]


def test_two_odd_cents():
    assert split_bill(1001, 3) == [334, 334, 333]


def test_nothing_is_lost():
    assert sum(split_bill(12345, 7)) == 12345


def test_all_shares_are_there():
    assert len(split_bill(5, 9)) == 9


def test_nobody():
    with pytest.raises(ValueError):
        split_bill(10, 0)
