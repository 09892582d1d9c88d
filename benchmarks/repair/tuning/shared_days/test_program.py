from datetime import date

from program import clashes, shared_days


def may(first, last):
    return date(2022, 5, first), date(2022, 5, last)


def test_within():
    assert shared_days(may(1, 10), may(3, 5)) == 3


def test_same():
    assert shared_days(may(4, 4), may(4, 4)) == 1


def test_touching():
    assert shared_days(may(1, 4), may(4, 8)) == 1


def test_next_to_each_other():
    assert shared_days(may(1, 4), may(5, 8)) == 0


def test_far_apart():
    assert shared_days(may(1, 2), may(20, 25)) == 0


def test_other_way_round():
    assert shared_days(may(20, 25), may(1, 2)) == 0


def test_clashes():
    assert clashes([may(1, 3), may(2, 6), may(8, 9)]) == [(0, 1)]


def test_no_clashes():
    assert clashes([may(1, 3), may(10, 12)]) == []
