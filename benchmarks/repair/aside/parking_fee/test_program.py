from program import parking_fee


def test_a_glance_is_free():
    assert parking_fee(3) == 0


def test_the_last_free_minute():
    assert parking_fee(15) == 0


def test_the_first_paid_minute():
    assert parking_fee(16) == 250


def test_one_hour():
    assert parking_fee(60) == 250


def test_a_started_hour_counts():
    assert parking_fee(61) == 500


def test_cap():
    assert parking_fee(20 * 60) == 1800


def test_two_days_and_an_hour():
    assert parking_fee(2 * 24 * 60 + 60) == 3850
