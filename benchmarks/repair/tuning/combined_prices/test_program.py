from program import cheapest_shop, combined_prices


def test_one_thing_one_shop():
    assert combined_prices([[3]], [[5]]) == [[15]]


def test_two_things():
    assert combined_prices([[1, 2]], [[10], [20]]) == [[50]]


def test_two_shops():
    assert combined_prices([[2]], [[5, 6]]) == [[10, 12]]


def test_two_orders():
    assert combined_prices([[1, 0], [0, 1]], [[4, 5], [6, 7]]) == [[4, 5], [6, 7]]


def test_no_orders():
    assert combined_prices([], [[1]]) == []


def test_cheapest():
    assert cheapest_shop([5, 1], [[2, 1], [1, 9]]) == 0


def test_cheapest_of_one_thing():
    assert cheapest_shop([1], [[9, 3, 7]]) == 1
