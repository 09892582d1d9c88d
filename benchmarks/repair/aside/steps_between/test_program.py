from itertools import islice

import pytest
from program import Steps


def some(steps):
    return list(islice(steps, 10))


def test_up():
    assert some(Steps(1, 4, 1)) == [1, 2, 3, 4]


def test_in_twos():
    assert some(Steps(0, 5, 2)) == [0, 2, 4]


def test_only_one():
    assert some(Steps(3, 3, 1)) == [3]


def test_none():
    assert some(Steps(5, 3, 1)) == []


def test_down():
    assert some(Steps(5, 3, -1)) == [5, 4, 3]


def test_down_in_threes():
    assert some(Steps(7, 0, -3)) == [7, 4, 1]


def test_none_down():
    assert some(Steps(1, 2, -1)) == []


def test_no_step():
    with pytest.raises(ValueError):
        Steps(0, 1, 0)
