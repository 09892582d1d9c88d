from program import Basket

PRICES = {"soap": 200, "rope": 500}


def test_empty():
    assert Basket().total(PRICES) == 0


def test_add():
    basket = Basket()
    basket.add("soap")
    basket.add("soap", 2)
    assert basket.counts == {"soap": 3}


def test_remove_one():
    basket = Basket()
    basket.add("soap", 2)
    basket.remove("soap")
    assert basket.counts == {"soap": 1}


def test_remove_the_last():
    basket = Basket()
    basket.add("soap")
    basket.remove("soap")
    assert basket.counts == {}


def test_remove_too_many():
    basket = Basket()
    basket.add("soap")
    basket.remove("soap", 5)
    assert basket.counts == {}


def test_remove_what_is_not_there():
    basket = Basket()
    basket.remove("rope")
    assert basket.counts == {}


def test_total():
    basket = Basket()
    basket.add("soap", 2)
    basket.add("rope")
    assert basket.total(PRICES) == 900


def test_three_for_two():
    basket = Basket()
    basket.add("rope", 7)
    assert basket.total(PRICES) == 2500
