import pytest
from program import formula_value


def test_number():
    assert formula_value(7, {}) == 7


def test_name():
    assert formula_value("x", {"x": 3}) == 3


def test_sum():
    assert formula_value(("+", 1, 2), {}) == 3


def test_difference():
    assert formula_value(("-", 5, "x"), {"x": 3}) == 2


def test_product_of_a_difference():
    assert formula_value(("*", 2, ("-", 1, 4)), {}) == -6


def test_unknown_name():
    with pytest.raises(KeyError):
        formula_value("y", {"x": 1})


def test_unknown_sign():
    with pytest.raises(ValueError):
        formula_value(("%", 1, 2), {})
