from program import changes, without_repeats


def test_nothing():
    assert list(without_repeats([])) == []


def test_all_differ():
    assert list(without_repeats([1, 2, 3])) == [1, 2, 3]


def test_repeats_vanish():
    assert list(without_repeats([5, 5, 5, 6, 6, 5])) == [5, 6, 5]


def test_tolerance():
    assert list(without_repeats([10, 11, 12, 9], tolerance=1)) == [10, 12, 9]


def test_slow_drift_is_seen():
    assert list(without_repeats([0, 1, 2, 3, 4], tolerance=1)) == [0, 2, 4]


def test_changes():
    assert list(changes("aabba")) == [(0, "a"), (2, "b"), (4, "a")]


def test_no_changes():
    assert list(changes([])) == []
