from program import effective, layered


def test_no_layers():
    assert effective() == {}


def test_new_names():
    assert layered({"a": 1}, {"b": 2}) == {"a": 1, "b": 2}


def test_later_wins():
    assert layered({"a": 1}, {"a": 2}) == {"a": 2}


def test_inside():
    assert layered({"db": {"host": "x", "port": 1}}, {"db": {"port": 2}}) == {"db": {"host": "x", "port": 2}}


def test_dictionary_replaces_value():
    assert layered({"a": 1}, {"a": {"b": 1}}) == {"a": {"b": 1}}


def test_value_replaces_dictionary():
    assert layered({"a": {"b": 1}}, {"a": 0}) == {"a": 0}


def test_base_is_left_alone():
    base = {"a": 1, "in": {"x": 1}}
    layered(base, {"a": 2, "in": {"x": 2}})
    assert base == {"a": 1, "in": {"x": 1}}


def test_three():
    assert effective({"a": 1}, {"b": 1}, {"a": 3}) == {"a": 3, "b": 1}
