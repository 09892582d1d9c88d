from program import sliding_means, windows


def test_too_few():
    assert list(windows([1, 2], 3)) == []


def test_exactly_one():
    assert list(windows([1, 2, 3], 3)) == [[1, 2, 3]]


def test_pairs():
    assert list(windows("abcd", 2)) == ["ab", "bc", "cd"]


def test_first_window():
    assert next(windows([4, 5, 6, 7], 2)) == [4, 5]


def test_means():
    assert list(sliding_means([1, 2, 3, 6], 3)) == [2.0, 3.67]


def test_mean_of_nothing():
    assert list(sliding_means([], 2)) == []
