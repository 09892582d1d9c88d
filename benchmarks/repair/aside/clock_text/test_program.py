from program import clock_text


def test_zero():
    assert clock_text(0) == "0:00"


def test_seconds():
    assert clock_text(7) == "0:07"


def test_minutes():
    assert clock_text(125) == "2:05"


def test_full_hour():
    assert clock_text(3600) == "1:00:00"


def test_all_three():
    assert clock_text(3600 * 2 + 60 * 3 + 4) == "2:03:04"


def test_negative():
    assert clock_text(-61) == "-1:01"


def test_negative_hours():
    assert clock_text(-7265) == "-2:01:05"
