from program import fill_lines


def test_nothing():
    assert fill_lines([], 10) == []


def test_one_line():
    assert fill_lines(["to", "be"], 10) == ["to be"]


def test_exact_fit():
    assert fill_lines(["to", "be", "or"], 5) == ["to be", "or"]


def test_the_blank_counts():
    assert fill_lines(["abc", "def"], 6) == ["abc", "def"]


def test_long_word():
    assert fill_lines(["a", "verylongword", "b"], 4) == ["a", "verylongword", "b"]


def test_no_line_is_too_long():
    words = "one two three four five six seven".split()
    assert all(len(line) <= 9 for line in fill_lines(words, 9))


def test_no_word_is_lost():
    words = "one two three four".split()
    assert " ".join(fill_lines(words, 8)).split() == words
