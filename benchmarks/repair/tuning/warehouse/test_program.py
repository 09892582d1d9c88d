import pytest
from program import ship, shortages


def test_enough():
    assert shortages({"a": 3}, {"a": 3}) == {}


def test_too_few():
    assert shortages({"a": 3}, {"a": 5}) == {"a": 2}


def test_not_there():
    assert shortages({}, {"b": 4}) == {"b": 4}


def test_one_not_there():
    assert shortages({"a": 1}, {"a": 1, "b": 1}) == {"b": 1}


def test_ship():
    assert ship({"a": 3, "b": 1}, {"a": 1}) == {"a": 2, "b": 1}


def test_used_up():
    assert ship({"a": 3}, {"a": 3}) == {}


def test_refused():
    with pytest.raises(ValueError):
        ship({"a": 3}, {"a": 4})


def test_stock_is_not_changed():
    stock = {"a": 2}
    ship(stock, {"a": 1})
    assert stock == {"a": 2}
