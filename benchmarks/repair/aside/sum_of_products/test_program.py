from program import calculate, tokens_of


def test_tokens():
    assert tokens_of("12+ 3*(4)") == [12, "+", 3, "*", "(", 4, ")"]


def test_number():
    assert calculate("42") == 42


def test_sum():
    assert calculate("1 + 2 - 4") == -1


def test_product():
    assert calculate("2*3*4") == 24


def test_product_first():
    assert calculate("2*3+4") == 10


def test_product_last():
    assert calculate("1+2*3") == 7


def test_brackets():
    assert calculate("(1+2)*3") == 9


def test_difference_of_products():
    assert calculate("20-2*3*2-1") == 7


def test_sign():
    assert calculate("-3*-2") == 6
