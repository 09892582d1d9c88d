from clock.format import readable


def test_an_hour():
    assert readable(3661) == "1:01:01"


def test_hours_are_always_two_digits():
    assert readable(3661) == "01:01:01"
