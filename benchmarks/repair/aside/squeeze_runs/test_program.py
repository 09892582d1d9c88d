from program import squeeze_runs


def test_empty():
    assert squeeze_runs("") == ""


def test_one_letter():
    assert squeeze_runs("x") == "x"


def test_one_run():
    assert squeeze_runs("aaaa") == "a4"


def test_two_runs():
    assert squeeze_runs("aaab") == "a3b"


def test_nothing_repeats():
    assert squeeze_runs("abc") == "abc"


def test_long_run():
    assert squeeze_runs("z" * 12) == "z12"


def test_result_is_text():
    assert isinstance(squeeze_runs("ab"), str)
