import pytest
from program import batches


def test_even():
    assert list(batches([1, 2, 3, 4], 2)) == [[1, 2], [3, 4]]


def test_short_last():
    assert list(batches([1, 2, 3], 2)) == [[1, 2], [3]]


def test_large_size():
    assert list(batches("ab", 5)) == [["a", "b"]]


def test_nothing():
    assert list(batches([], 3)) == []


def test_any_iterable():
    assert list(batches(range(3), 1)) == [[0], [1], [2]]


def test_size_is_checked():
    with pytest.raises(ValueError):
        list(batches([1], 0))
