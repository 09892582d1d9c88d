from program import heaviest_load


def test_one_bridge():
    assert heaviest_load([("a", "b", 5)], "a", "b") == 5


def test_both_ways():
    assert heaviest_load([("a", "b", 5)], "b", "a") == 5


def test_no_route():
    assert heaviest_load([("a", "b", 5)], "a", "z") is None


def test_weakest_first():
    assert heaviest_load([("a", "b", 3), ("b", "c", 9)], "a", "c") == 3


def test_weakest_last():
    assert heaviest_load([("a", "b", 9), ("b", "c", 4)], "a", "c") == 4


def test_detour():
    assert heaviest_load([("a", "c", 2), ("a", "b", 7), ("b", "c", 6)], "a", "c") == 6


def test_two_detours():
    bridges = [("a", "b", 4), ("b", "d", 8), ("a", "c", 5), ("c", "d", 5)]
    assert heaviest_load(bridges, "a", "d") == 5
