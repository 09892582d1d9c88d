from shop.cart import to_pay


def test_no_code_pays_everything():
    assert to_pay([500, 250]) == 750


def test_half():
    assert to_pay([500, 250], "HALF") == 375


def test_ten_percent_off():
    assert to_pay([1000], "TEN") == 900


def test_ten_percent_rounds_in_favour_of_the_customer():
    assert to_pay([999], "TEN") == 899
