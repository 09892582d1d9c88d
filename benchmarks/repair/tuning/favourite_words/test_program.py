from program import count_words, favourite_words


def test_nothing():
    assert favourite_words("", 3) == []


def test_counts():
    assert count_words("No, no! Yes.") == {"no": 2, "yes": 1}


def test_marks_only():
    assert count_words("... !!") == {}


def test_most_frequent_first():
    assert favourite_words("b a b c b a", 2) == ["b", "a"]


def test_ties_by_alphabet():
    assert favourite_words("pear apple fig", 3) == ["apple", "fig", "pear"]


def test_fewer_than_asked():
    assert favourite_words("one", 5) == ["one"]


def test_none_asked():
    assert favourite_words("one two", 0) == []
