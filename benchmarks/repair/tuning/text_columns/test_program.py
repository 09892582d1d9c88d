from program import text_columns


def test_no_rows():
    assert text_columns([]) == []


def test_one_row():
    assert text_columns([("tea", 3)]) == ["tea  3"]


def test_names_are_padded():
    assert text_columns([("tea", 3), ("coffee", 4)]) == ["tea     3", "coffee  4"]


def test_numbers_end_together():
    assert text_columns([("a", 5), ("b", 120)]) == ["a    5", "b  120"]


def test_gap():
    assert text_columns([("a", 1), ("bb", 2)], gap=1) == ["a  1", "bb 2"]


def test_lines_are_of_one_length():
    lines = text_columns([("x", 1), ("yy", 22), ("zzz", 333)])
    assert len({len(line) for line in lines}) == 1
