from program import newer_version, newest


def test_first():
    assert newer_version("2.0", "1.9") == "2.0"


def test_second():
    assert newer_version("1.2", "1.3") == "1.3"


def test_ten_is_more_than_nine():
    assert newer_version("1.9", "1.10") == "1.10"


def test_v():
    assert newer_version("v1.0", "v3.0") == "v3.0"


def test_equals():
    assert newer_version("1.0", "1") == "1.0"


def test_longer():
    assert newer_version("1.2", "1.2.1") == "1.2.1"


def test_newest():
    assert newest(["0.9", "0.12", "0.3"]) == "0.12"


def test_newest_of_none():
    assert newest([]) is None
