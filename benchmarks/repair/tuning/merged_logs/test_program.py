from program import merged_logs


def test_no_logs():
    assert merged_logs([]) == []


def test_empty_logs():
    assert merged_logs([[], []]) == []


def test_one_log():
    assert merged_logs([[(1, "a"), (2, "b")]]) == [(1, "a"), (2, "b")]


def test_one_after_the_other():
    assert merged_logs([[(5, "x")], [(1, "a")]]) == [(1, "a"), (5, "x")]


def test_interleaved():
    logs = [[(1, "a"), (4, "d")], [(2, "b"), (3, "c")]]
    assert [text for _, text in merged_logs(logs)] == ["a", "b", "c", "d"]


def test_same_time():
    assert merged_logs([[(1, "first")], [(1, "second")]]) == [(1, "first"), (1, "second")]


def test_three():
    logs = [[(1, "a"), (9, "i")], [(2, "b"), (8, "h")], [(3, "c")]]
    assert [time for time, _ in merged_logs(logs)] == [1, 2, 3, 8, 9]
