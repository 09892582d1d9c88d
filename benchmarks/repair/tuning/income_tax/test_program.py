from program import income_tax


def test_no_income():
    assert income_tax(0) == 0


def test_below_the_first_edge():
    assert income_tax(9_999) == 0


def test_at_the_first_edge():
    assert income_tax(10_000) == 0


def test_inside_the_second():
    assert income_tax(12_000) == 300


def test_at_the_second_edge():
    assert income_tax(25_000) == 2_250


def test_inside_the_third():
    assert income_tax(35_000) == 5_050


def test_above_all():
    assert income_tax(70_000) == 16_250
