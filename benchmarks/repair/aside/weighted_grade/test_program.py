from program import weighted_grade


def test_nothing_marked():
    assert weighted_grade([]) is None


def test_one_mark():
    assert weighted_grade([(2.0, 1)]) == 2.0


def test_equal_weights_of_one():
    assert weighted_grade([(1, 1), (2, 1)]) == 1.5


def test_a_heavy_mark_counts_more():
    assert weighted_grade([(1, 3), (5, 1)]) == 2.0


def test_a_mark_without_weight_does_not_count():
    assert weighted_grade([(6, 0), (2, 2)]) == 2.0


def test_rounding():
    assert weighted_grade([(1, 1), (2, 2)]) == 1.7


def test_only_weightless_marks():
    assert weighted_grade([(3, 0)]) is None
