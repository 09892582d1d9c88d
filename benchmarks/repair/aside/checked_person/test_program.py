import pytest
from program import FormError, checked_person, problems_of


def test_good():
    assert checked_person({"name": " Ann ", "age": 30}) == ("Ann", 30)


def test_no_name():
    assert problems_of({"name": "  ", "age": 1}) == {"name": "missing"}


def test_long_name():
    assert problems_of({"name": "x" * 21, "age": 1}) == {"name": "too long"}


def test_age_is_text():
    assert problems_of({"name": "x", "age": "9"}) == {"age": "not a number"}


def test_too_old():
    assert problems_of({"name": "x", "age": 131}) == {"age": "not possible"}


def test_not_born():
    assert problems_of({"name": "x", "age": -1}) == {"age": "not possible"}


def test_mail():
    assert problems_of({"name": "x", "age": 1, "mail": "me.at.home"}) == {"mail": "not an address"}


def test_good_mail():
    assert problems_of({"name": "x", "age": 0, "mail": "me@home"}) == {}


def test_all_is_told():
    with pytest.raises(FormError) as caught:
        checked_person({})
    assert str(caught.value) == "age: not a number; name: missing"


def test_oldest():
    assert checked_person({"name": "x", "age": 130}) == ("x", 130)
