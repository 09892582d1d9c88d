from program import mask_number


def test_usual():
    assert mask_number("1234567812349876") == "**** **** **** 9876"


def test_blanks_in_the_input():
    assert mask_number("1111 2222 3333") == "**** **** 3333"


def test_short_numbers_stay():
    assert mask_number("123") == "123"


def test_exactly_the_visible_ones():
    assert mask_number("1234") == "1234"


def test_other_count():
    assert mask_number("12345678", visible=2) == "**** **78"


def test_odd_length():
    assert mask_number("55555", visible=4) == "*555 5"


def test_empty():
    assert mask_number("") == ""
