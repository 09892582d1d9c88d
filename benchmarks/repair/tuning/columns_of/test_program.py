from program import column_sums, columns_of


def test_empty():
    assert columns_of([]) == []


def test_square():
    assert columns_of([[1, 2], [3, 4]]) == [[1, 3], [2, 4]]


def test_wide():
    assert columns_of([[1, 2, 3]]) == [[1], [2], [3]]


def test_high():
    assert columns_of([[1], [2], [3]]) == [[1, 2, 3]]


def test_twice_is_the_same():
    table = [[1, 2, 3], [4, 5, 6]]
    assert columns_of(columns_of(table)) == table


def test_sums():
    assert column_sums([[1, 2, 3], [10, 20, 30]]) == [11, 22, 33]


def test_sums_of_a_square():
    assert column_sums([[1, 1], [2, 2]]) == [3, 3]
