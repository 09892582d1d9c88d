from program import block_justify


def test_one_word():
    assert block_justify(["word"], 7) == "word   "


def test_already_full():
    assert block_justify(["ab", "cd"], 5) == "ab cd"


def test_one_wide_gap():
    assert block_justify(["ab", "cd"], 8) == "ab    cd"


def test_even_gaps():
    assert block_justify(["a", "b", "c"], 7) == "a  b  c"


def test_left_gap_is_wider():
    assert block_justify(["a", "b", "c"], 6) == "a  b c"


def test_width_is_kept():
    assert len(block_justify(["the", "quick", "fox", "ran"], 23)) == 23
