from program import parcel_price


def test_light():
    assert parcel_price(20) == 270


def test_exactly_at_a_limit():
    assert parcel_price(1000) == 430


def test_just_above_a_limit():
    assert parcel_price(1001) == 550


def test_too_heavy():
    assert parcel_price(5001) is None


def test_express():
    assert parcel_price(300, express=True) == 620


def test_small_values_are_insured_for_nothing():
    assert parcel_price(300, insured=100) == 270


def test_insured():
    assert parcel_price(300, insured=500) == 280


def test_express_and_insured():
    assert parcel_price(1500, express=True, insured=2000) == 940
