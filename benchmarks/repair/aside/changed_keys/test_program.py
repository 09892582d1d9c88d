from program import changed_keys, summary


def test_same():
    assert changed_keys({"a": 1}, {"a": 1}) == ([], [], [])


def test_added():
    assert changed_keys({}, {"b": 1, "a": 1}) == (["a", "b"], [], [])


def test_removed():
    assert changed_keys({"x": 1, "a": 2}, {"a": 2}) == ([], ["x"], [])


def test_changed():
    assert changed_keys({"a": 1}, {"a": 2}) == ([], [], ["a"])


def test_all():
    assert changed_keys({"a": 1, "b": 1}, {"b": 2, "c": 1}) == (["c"], ["a"], ["b"])


def test_summary():
    assert summary({"a": 1, "b": 1}, {"a": 0}) == "-b ~a"


def test_no_change():
    assert summary({}, {}) == "no change"
