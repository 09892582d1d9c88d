from program import two_teams


def test_nobody():
    assert two_teams([], []) == ([], [])


def test_no_rivals():
    assert two_teams(["b", "a"], []) == (["a", "b"], [])


def test_two_rivals():
    assert two_teams(["a", "b"], [("a", "b")]) == (["a"], ["b"])


def test_chain():
    assert two_teams(["a", "b", "c"], [("a", "b"), ("b", "c")]) == (["a", "c"], ["b"])


def test_triangle():
    assert two_teams(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")]) is None


def test_square():
    assert two_teams("abcd", [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]) == (["a", "c"], ["b", "d"])


def test_two_groups():
    assert two_teams("wxyz", [("w", "x"), ("y", "z")]) == (["w", "y"], ["x", "z"])
