import pytest
from program import Recipe, shopping_list


@pytest.fixture
def soup():
    return Recipe("soup", 4, {"leek": 800, "salt": 10})


def test_weight(soup):
    assert soup.weight() == 810


def test_same_number(soup):
    assert soup.scaled(4) == soup


def test_more_people(soup):
    assert soup.scaled(6) == Recipe("soup", 6, {"leek": 1200, "salt": 15})


def test_fewer_grams(soup):
    assert soup.scaled(1).grams == {"leek": 200, "salt": 2}


def test_scaled_twice(soup):
    assert soup.scaled(8).scaled(2).grams == {"leek": 400, "salt": 5}


def test_original_stays(soup):
    soup.scaled(40)
    assert soup.grams["leek"] == 800


def test_list(soup):
    assert shopping_list([soup, Recipe("broth", 2, {"salt": 6})], 2) == {"leek": 400, "salt": 11}
