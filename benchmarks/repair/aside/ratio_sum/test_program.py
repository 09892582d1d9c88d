import pytest
from program import Ratio, common_divisor, total


def test_common_divisor():
    assert common_divisor(12, 18) == 6


def test_lowest_terms():
    assert Ratio.of(4, 6) == Ratio(2, 3)


def test_sign():
    assert Ratio.of(1, -2) == Ratio(-1, 2)


def test_to_nothing():
    with pytest.raises(ZeroDivisionError):
        Ratio.of(1, 0)


def test_plus_zero():
    assert Ratio.of(0, 1).plus(Ratio.of(1, 3)) == Ratio(1, 3)


def test_plus():
    assert Ratio.of(1, 2).plus(Ratio.of(1, 3)) == Ratio(5, 6)


def test_total():
    assert total([(1, 4), (1, 4), (1, 2)]) == Ratio(1, 1)


def test_total_of_nothing():
    assert total([]) == Ratio(0, 1)


def test_less_than():
    assert Ratio.of(1, 3).less_than(Ratio.of(1, 2))


def test_not_less_than():
    assert not Ratio.of(1, 2).less_than(Ratio.of(-1, 2))
