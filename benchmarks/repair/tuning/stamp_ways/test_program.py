from program import stamp_ways


def test_nothing_to_pay():
    assert stamp_ways(0, [5]) == 1


def test_one_stamp():
    assert stamp_ways(5, [5]) == 1


def test_impossible():
    assert stamp_ways(3, [5]) == 0


def test_order_matters():
    assert stamp_ways(3, [1, 2]) == 3


def test_three_kinds():
    assert stamp_ways(4, [1, 2, 3]) == 7


def test_no_stamps():
    assert stamp_ways(4, []) == 0


def test_not_reachable():
    assert stamp_ways(7, [2, 4]) == 0
