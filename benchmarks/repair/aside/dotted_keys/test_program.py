from program import dotted_keys


def test_flat():
    assert dotted_keys({"a": 1, "b": 2}) == {"a": 1, "b": 2}


def test_one_level():
    assert dotted_keys({"a": {"b": 1}}) == {"a.b": 1}


def test_two_levels():
    assert dotted_keys({"a": {"b": {"c": 1}}}) == {"a.b.c": 1}


def test_mixed():
    assert dotted_keys({"x": 0, "a": {"b": 1, "c": {"d": 2}}}) == {"x": 0, "a.b": 1, "a.c.d": 2}


def test_empty():
    assert dotted_keys({}) == {}


def test_empty_inside():
    assert dotted_keys({"a": {}}) == {}


def test_lists_are_values():
    assert dotted_keys({"a": {"b": [1, 2]}}) == {"a.b": [1, 2]}
