from program import take_turns


def test_no_queue():
    assert list(take_turns()) == []


def test_one_queue():
    assert list(take_turns([1, 2, 3])) == [1, 2, 3]


def test_two_of_one_length():
    assert list(take_turns([1, 3], [2, 4])) == [1, 2, 3, 4]


def test_short_first():
    assert list(take_turns([1], "abc")) == [1, "a", "b", "c"]


def test_short_last():
    assert list(take_turns("abc", [1])) == ["a", 1, "b", "c"]


def test_empty_between():
    assert list(take_turns("ab", "", "xy")) == ["a", "x", "b", "y"]


def test_lazy():
    first = take_turns(iter(int, 1), [5])
    assert [next(first), next(first)] == [0, 5]
