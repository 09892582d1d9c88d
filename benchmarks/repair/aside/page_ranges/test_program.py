import pytest
from program import page_ranges


def test_single():
    assert page_ranges("4", 10) == [4]


def test_list():
    assert page_ranges("7, 2", 10) == [2, 7]


def test_range():
    assert page_ranges("2-4", 10) == [2, 3, 4]


def test_open_end():
    assert page_ranges("8-", 10) == [8, 9, 10]


def test_open_start():
    assert page_ranges("-2", 10) == [1, 2]


def test_twice_is_once():
    assert page_ranges("3,1-4,4", 10) == [1, 2, 3, 4]


def test_beyond_the_end():
    assert page_ranges("9,15", 10) == [9]


def test_empty():
    assert page_ranges("", 5) == []


def test_not_a_number():
    with pytest.raises(ValueError):
        page_ranges("two", 5)
