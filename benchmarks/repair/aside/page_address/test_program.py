from program import page_address


def test_plain():
    assert page_address("news") == "news"


def test_two_words():
    assert page_address("hello world") == "hello-world"


def test_case():
    assert page_address("Hello World") == "hello-world"


def test_punctuation_is_one_dash():
    assert page_address("what?! -- no") == "what-no"


def test_no_dash_at_the_ends():
    assert page_address("  (draft) ") == "draft"


def test_digits():
    assert page_address("Top 10 of 2020") == "top-10-of-2020"


def test_cut():
    assert page_address("abcdef ghi", longest=7) == "abcdef"


def test_empty():
    assert page_address("***") == ""
