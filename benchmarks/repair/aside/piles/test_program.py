from program import piles


def test_no_stones():
    assert piles(0, 3) == [[]]


def test_one_stone():
    assert piles(1, 1) == [[1]]


def test_two_stones():
    assert piles(2, 2) == [[2], [1, 1]]


def test_limited():
    assert piles(3, 2) == [[2, 1], [1, 1, 1]]


def test_four():
    assert piles(4, 4) == [[4], [3, 1], [2, 2], [2, 1, 1], [1, 1, 1, 1]]


def test_no_room():
    assert piles(2, 0) == []


def test_a_limit_above_the_stones():
    assert piles(1, 9) == [[1]]
