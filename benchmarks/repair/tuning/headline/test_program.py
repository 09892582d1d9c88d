from program import headline


def test_plain():
    assert headline("cats sleep") == "Cats Sleep"


def test_small_word_inside():
    assert headline("lord of rings") == "Lord of Rings"


def test_small_word_first():
    assert headline("the hare and tortoise") == "The Hare and Tortoise"


def test_small_word_last():
    assert headline("what it leads to") == "What It Leads To"


def test_shouting():
    assert headline("WAR AND PEACE") == "War and Peace"


def test_one_small_word():
    assert headline("of") == "Of"


def test_empty():
    assert headline("") == ""


def test_spaces():
    assert headline("  two   words ") == "Two Words"
