from program import shift_letters, unshift_letters


def test_small_letters():
    assert shift_letters("abc", 1) == "bcd"


def test_round_the_end():
    assert shift_letters("xyz", 3) == "abc"


def test_capitals_stay_capitals():
    assert shift_letters("ABZ", 1) == "BCA"


def test_mixed():
    assert shift_letters("Hi, You 2!", 2) == "Jk, Aqw 2!"


def test_backwards():
    assert unshift_letters("bcd", 1) == "abc"


def test_there_and_back():
    assert unshift_letters(shift_letters("plain words", 11), 11) == "plain words"


def test_whole_alphabet():
    assert shift_letters("m", 26) == "m"
