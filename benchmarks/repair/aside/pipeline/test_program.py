from program import composed, pipeline, repeated


def double(x):
    return 2 * x


def plus_one(x):
    return x + 1


def test_no_steps():
    assert pipeline()(5) == 5


def test_in_order():
    assert pipeline(double, plus_one)(5) == 11


def test_composed():
    assert composed(double, plus_one)(5) == 12


def test_composed_of_one():
    assert composed(double)(4) == 8


def test_stops_at_none():
    assert pipeline(plus_one, lambda _: None, double)(1) is None


def test_repeated():
    assert repeated(double, 5)(1) == 32


def test_repeated_never():
    assert repeated(double, 0)(7) == 7


def test_three_composed():
    assert composed(str, double, plus_one)(1) == "4"
