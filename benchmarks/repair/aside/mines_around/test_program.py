from program import lonely_mines, mines_around


def test_empty_field():
    assert mines_around(["...", "...", "..."], 1, 1) == 0


def test_one_beside():
    assert mines_around(["*."], 0, 1) == 1


def test_all_around():
    assert mines_around(["***", "*.*", "***"], 1, 1) == 8


def test_corner():
    assert mines_around([".*", "**"], 0, 0) == 3


def test_a_mine_does_not_count_itself():
    assert mines_around(["...", ".*.", "..*"], 1, 1) == 1


def test_far_away():
    assert mines_around(["*..*"], 0, 1) == 1


def test_lonely():
    assert lonely_mines(["*..", "...", "..*"]) == [(0, 0), (2, 2)]


def test_not_lonely():
    assert lonely_mines(["**", ".."]) == []
