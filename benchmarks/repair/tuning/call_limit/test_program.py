from program import call_limit


def test_first_call():
    assert call_limit(1, 10)(0)


def test_too_soon():
    may_call = call_limit(1, 10)
    may_call(0)
    assert not may_call(9)


def test_the_window_is_over():
    may_call = call_limit(1, 10)
    may_call(0)
    assert may_call(10)


def test_long_after():
    may_call = call_limit(1, 10)
    may_call(0)
    assert may_call(50)


def test_several():
    may_call = call_limit(2, 5)
    assert [may_call(now) for now in (0, 1, 2, 3)] == [True, True, False, False]


def test_refused_calls_do_not_count():
    may_call = call_limit(1, 5)
    assert [may_call(now) for now in (0, 4, 6)] == [True, False, True]


def test_sliding():
    may_call = call_limit(2, 4)
    assert [may_call(now) for now in (0, 3, 4, 5, 7)] == [True, True, True, False, True]


def test_none_at_all():
    assert not call_limit(0, 5)(3)
