from program import shared_start


def test_no_words():
    assert shared_start([]) == ""


def test_one_word():
    assert shared_start(["alone"]) == "alone"


def test_two_words():
    assert shared_start(["inside", "insult"]) == "ins"


def test_three_words():
    assert shared_start(["inside", "insult", "ink"]) == "in"


def test_nothing_shared():
    assert shared_start(["one", "two"]) == ""


def test_one_is_the_start_of_another():
    assert shared_start(["car", "cart"]) == "car"


def test_the_last_word_decides():
    assert shared_start(["abc", "abd", "xyz"]) == ""
