from program import circles_of_friends, neighbours


def test_nobody():
    assert circles_of_friends([]) == []


def test_neighbours():
    assert neighbours([("a", "b"), ("b", "c")]) == {"a": {"b"}, "b": {"a", "c"}, "c": {"b"}}


def test_knows_oneself():
    assert circles_of_friends([("a", "a")]) == [["a"]]


def test_pair():
    assert circles_of_friends([("a", "b")]) == [["a", "b"]]


def test_chain():
    assert circles_of_friends([("a", "b"), ("c", "b"), ("c", "d")]) == [["a", "b", "c", "d"]]


def test_two_circles():
    assert circles_of_friends([("x", "y"), ("a", "b"), ("b", "c")]) == [["a", "b", "c"], ["x", "y"]]


def test_ring():
    assert circles_of_friends([("a", "b"), ("b", "c"), ("c", "a")]) == [["a", "b", "c"]]
