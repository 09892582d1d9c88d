from program import same_letters


def test_nothing():
    assert same_letters([]) == []


def test_different():
    assert same_letters(["cat", "dog"]) == []


def test_pair():
    assert same_letters(["listen", "silent"]) == [["listen", "silent"]]


def test_capitals():
    assert same_letters(["Tea", "eat"]) == [["Tea", "eat"]]


def test_two_groups():
    assert same_letters(["now", "arm", "own", "ram", "won"]) == [["now", "own", "won"], ["arm", "ram"]]


def test_length_matters():
    assert same_letters(["aab", "ab"]) == []


def test_same_word():
    assert same_letters(["go", "go"]) == [["go", "go"]]
