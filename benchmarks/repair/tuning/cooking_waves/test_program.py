import pytest
from program import cooking_waves


def test_nothing():
    assert cooking_waves({}) == []


def test_independent():
    assert cooking_waves({"b": [], "a": []}) == [["a", "b"]]


def test_one_after_the_other():
    assert cooking_waves({"cut": [], "boil": ["cut"], "serve": ["boil"]}) == [["cut"], ["boil"], ["serve"]]


def test_join():
    needs = {"rice": [], "fish": [], "sushi": ["rice", "fish"]}
    assert cooking_waves(needs) == [["fish", "rice"], ["sushi"]]


def test_late_part():
    needs = {"a": [], "b": ["a"], "c": ["a", "b"], "d": []}
    assert cooking_waves(needs) == [["a", "d"], ["b"], ["c"]]


def test_ring():
    with pytest.raises(ValueError):
        cooking_waves({"a": ["b"], "b": ["a"]})


def test_waits_for_itself():
    with pytest.raises(ValueError):
        cooking_waves({"a": ["a"]})
