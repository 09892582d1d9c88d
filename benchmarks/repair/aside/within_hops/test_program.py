from program import hops_between, within_hops

ROADS = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": ["e"], "x": ["a"]}


def test_stay():
    assert within_hops(ROADS, "a", 0) == ["a"]


def test_one():
    assert within_hops(ROADS, "a", 1) == ["a", "b", "c"]


def test_two():
    assert within_hops(ROADS, "a", 2) == ["a", "b", "c", "d"]


def test_far_enough():
    assert within_hops(ROADS, "a", 50) == ["a", "b", "c", "d", "e"]


def test_dead_end():
    assert within_hops(ROADS, "e", 3) == ["e"]


def test_between():
    assert hops_between(ROADS, "x", "d") == 3


def test_no_way():
    assert hops_between(ROADS, "e", "a") is None


def test_ring():
    assert within_hops({1: [2], 2: [3], 3: [1]}, 1, 9) == [1, 2, 3]
