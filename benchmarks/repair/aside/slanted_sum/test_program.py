from program import is_magic, slanted_sum


def test_empty():
    assert slanted_sum([]) == 0


def test_single():
    assert slanted_sum([[7]]) == 7


def test_two():
    assert slanted_sum([[1, 2], [3, 4]]) == 10


def test_three():
    assert slanted_sum([[1, 2, 3], [4, 5, 6], [7, 8, 9]]) == 25


def test_four():
    assert slanted_sum([[1, 0, 0, 2], [0, 3, 4, 0], [0, 5, 6, 0], [7, 0, 0, 8]]) == 36


def test_magic():
    assert is_magic([[2, 7, 6], [9, 5, 1], [4, 3, 8]])


def test_not_magic():
    assert not is_magic([[1, 2], [3, 4]])
