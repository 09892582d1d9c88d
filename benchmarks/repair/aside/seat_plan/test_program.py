from program import free_seats, seat_plan


def test_all_free():
    assert seat_plan(2, 3, []) == ["...", "..."]


def test_one_row():
    assert seat_plan(1, 3, [(0, 1)]) == [".x."]


def test_only_one_row_is_marked():
    assert seat_plan(2, 2, [(1, 0)]) == ["..", "x."]


def test_several():
    assert seat_plan(3, 2, [(0, 0), (2, 1)]) == ["x.", "..", ".x"]


def test_outside():
    assert seat_plan(1, 1, [(3, 3), (0, -1)]) == ["."]


def test_free():
    assert free_seats(seat_plan(3, 3, [(1, 1)])) == 8


def test_no_rows():
    assert seat_plan(0, 4, []) == []
