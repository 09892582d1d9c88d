from program import rooms_needed


def test_none():
    assert rooms_needed([]) == 0


def test_one():
    assert rooms_needed([(9, 10)]) == 1


def test_apart():
    assert rooms_needed([(9, 10), (11, 12)]) == 1


def test_overlap():
    assert rooms_needed([(9, 11), (10, 12)]) == 2


def test_one_after_the_other():
    assert rooms_needed([(9, 10), (10, 11), (11, 12)]) == 1


def test_all_at_once():
    assert rooms_needed([(9, 12)] * 4) == 4


def test_any_order():
    assert rooms_needed([(13, 15), (9, 14), (14, 16), (10, 11)]) == 2
