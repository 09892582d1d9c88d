from program import careful_sum, number_of


def test_number():
    assert number_of("12") == 12


def test_commas():
    assert number_of(" 1,200 ") == 1200


def test_no_number():
    assert number_of("a few") is None


def test_nothing():
    assert careful_sum([], "n") == (0, [])


def test_sum():
    assert careful_sum([{"n": "1"}, {"n": "2"}], "n") == (3, [])


def test_bad_number():
    assert careful_sum([{"n": "x"}, {"n": "5"}], "n") == (5, [0])


def test_missing_field():
    assert careful_sum([{"n": "1"}, {"m": "2"}], "n") == (1, [1])


def test_both():
    rows = [{"n": "?"}, {}, {"n": "-4"}]
    assert careful_sum(rows, "n") == (-4, [0, 1])
