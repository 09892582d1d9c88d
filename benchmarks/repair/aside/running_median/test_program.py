from program import RunningMedian, medians


def test_nothing():
    assert RunningMedian().median() is None


def test_one():
    assert medians([5]) == [5]


def test_two():
    assert medians([1, 2]) == [1, 1.5]


def test_rising():
    assert medians([1, 2, 3, 4]) == [1, 1.5, 2, 2.5]


def test_falling():
    assert medians([9, 7, 5]) == [9, 8, 7]


def test_mixed():
    assert medians([5, 1, 9, 3]) == [5, 3, 5, 4]


def test_negative():
    assert medians([-1, -5, 4]) == [-1, -3, -1]


def test_equal():
    assert medians([2, 2, 2]) == [2, 2, 2]
