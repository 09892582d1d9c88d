from program import Room, covered


def test_area():
    assert Room(0, 0, 4, 3).area == 12


def test_apart():
    assert Room(0, 0, 2, 2).common(Room(5, 0, 2, 2)) is None


def test_side_by_side():
    assert Room(0, 0, 2, 2).common(Room(2, 0, 2, 2)) is None


def test_below():
    assert Room(0, 0, 2, 2).common(Room(0, 2, 2, 2)) is None


def test_same():
    assert Room(1, 1, 3, 3).common(Room(1, 1, 3, 3)) == Room(1, 1, 3, 3)


def test_corner():
    assert Room(0, 0, 4, 4).common(Room(2, 3, 4, 4)) == Room(2, 3, 2, 1)


def test_inside():
    assert Room(0, 0, 9, 9).common(Room(3, 4, 2, 2)) == Room(3, 4, 2, 2)


def test_covered():
    assert covered(Room(0, 0, 2, 2), Room(1, 1, 2, 2)) == 7


def test_covered_apart():
    assert covered(Room(0, 0, 1, 1), Room(4, 4, 2, 2)) == 5
