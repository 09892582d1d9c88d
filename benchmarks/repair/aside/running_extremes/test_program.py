from program import running_extremes, widest_gap


def test_nothing():
    assert list(running_extremes([])) == []


def test_one():
    assert list(running_extremes([4])) == [(4, 4)]


def test_rising():
    assert list(running_extremes([1, 2, 3])) == [(1, 1), (1, 2), (1, 3)]


def test_falling():
    assert list(running_extremes([3, 1])) == [(3, 3), (1, 3)]


def test_frost():
    assert list(running_extremes([-5, -3, -8])) == [(-5, -5), (-5, -3), (-8, -3)]


def test_gap():
    assert widest_gap([2, 9, 4, 1]) == 8


def test_gap_below_zero():
    assert widest_gap([-7, -2]) == 5


def test_no_gap():
    assert widest_gap([]) == 0
