from program import LookAhead, runs


def test_without_looking():
    assert list(LookAhead("abc")) == ["a", "b", "c"]


def test_peek():
    assert LookAhead([7, 8]).peek() == 7


def test_peek_takes_nothing():
    ahead = LookAhead([7, 8])
    ahead.peek()
    ahead.peek()
    assert next(ahead) == 7


def test_go_on_after_peek():
    ahead = LookAhead([7, 8, 9])
    ahead.peek()
    assert [next(ahead), next(ahead), ahead.peek(), next(ahead)] == [7, 8, 9, 9]


def test_peek_at_the_end():
    assert LookAhead([]).peek() is None


def test_default():
    assert LookAhead("").peek("end") == "end"


def test_runs_of_one():
    assert runs([]) == []


def test_still_usable_in_for():
    ahead = LookAhead([1])
    assert [item for item in ahead] == [1]
    assert ahead.peek("over") == "over"
