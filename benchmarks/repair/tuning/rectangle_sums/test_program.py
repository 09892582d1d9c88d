from program import rectangle_sum, sum_table

TABLE = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_sum_table():
    assert sum_table([[1, 2], [3, 4]]) == [[0, 0, 0], [0, 1, 3], [0, 4, 10]]


def test_all():
    assert rectangle_sum(TABLE, 0, 0, 3, 3) == 45


def test_first_rows():
    assert rectangle_sum(TABLE, 0, 0, 2, 3) == 21


def test_last_column():
    assert rectangle_sum(TABLE, 0, 2, 3, 3) == 18


def test_middle():
    assert rectangle_sum(TABLE, 1, 1, 2, 2) == 5


def test_corner():
    assert rectangle_sum(TABLE, 1, 1, 3, 3) == 28


def test_nothing():
    assert rectangle_sum(TABLE, 0, 1, 3, 1) == 0
