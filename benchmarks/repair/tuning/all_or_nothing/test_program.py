import pytest
from program import all_or_nothing, apply_changes


def test_no_error():
    record = {"a": 1}
    with all_or_nothing(record):
        record["a"] = 2
    assert record == {"a": 2}


def test_error_goes_on():
    with pytest.raises(KeyError), all_or_nothing({}):
        raise KeyError("x")


def test_undone():
    record = {"a": 1}
    with pytest.raises(RuntimeError), all_or_nothing(record):
        record["b"] = 3
        raise RuntimeError
    assert record == {"a": 1}


def test_apply():
    record = {"a": 1}
    assert apply_changes(record, [("a", 4), ("b", 2)])
    assert record == {"a": 5, "b": 2}


def test_refused():
    assert not apply_changes({"a": 1}, [("a", -2)])


def test_none_of_them():
    record = {"a": 5}
    assert not apply_changes(record, [("a", -3), ("b", -1)])
    assert record == {"a": 5}


def test_no_changes():
    assert apply_changes({}, [])
