import pytest
from program import DrinksMachine


@pytest.fixture
def machine():
    return DrinksMachine({"water": 2, "cola": 1})


def test_not_enough(machine):
    machine.insert(50)
    assert machine.choose("water") is None
    assert machine.inserted == 50


def test_exact(machine):
    machine.insert(100)
    assert machine.choose("water") == 0


def test_change(machine):
    machine.insert(200)
    assert machine.choose("cola") == 50


def test_second_customer_pays(machine):
    machine.insert(100)
    machine.choose("water")
    assert machine.choose("water") is None


def test_sold_out(machine):
    machine.insert(200)
    machine.choose("cola")
    machine.insert(200)
    assert machine.choose("cola") is None


def test_foreign_coin(machine):
    assert machine.insert(3) is False
    assert machine.cancel() == 0


def test_cancel_after_a_sale(machine):
    machine.insert(200)
    machine.choose("water")
    assert machine.cancel() == 0


def test_sales(machine):
    machine.insert(200)
    machine.choose("cola")
    assert machine.sales == 150
