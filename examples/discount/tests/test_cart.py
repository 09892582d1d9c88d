from shop.cart import to_pay


def test_no_code_pays_everything():
    assert to_pay([500, 250]) == 750


def test_half():
    assert to_pay([500, 250], "HALF") == 375


def test_ten_percent_off():
    assert to_pay([1000], "TEN") == 900


def test_ten_percent_of_a_full_cart():
    assert to_pay([1990, 10, 500], "TEN") == 2250
