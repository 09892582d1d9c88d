from program import remembering


def counted():
    calls = []

    def square(x):
        calls.append(x)
        return x * x

    return square, calls


def test_answers():
    square, _ = counted()
    assert remembering(square)(4) == 16


def test_asked_once():
    square, calls = counted()
    ask = remembering(square)
    ask(3)
    ask(3)
    assert calls == [3]


def test_different_arguments():
    square, calls = counted()
    ask = remembering(square)
    assert [ask(1), ask(2), ask(1)] == [1, 4, 1]
    assert calls == [1, 2]


def test_forget():
    square, calls = counted()
    ask = remembering(square)
    ask(1)
    assert ask.forget() == 1
    ask(1)
    assert calls == [1, 1]


def test_small_memory():
    square, calls = counted()
    ask = remembering(square, size=2)
    for x in (1, 2, 3):
        ask(x)
    assert ask.forget() == 2


def test_the_oldest_is_forgotten():
    square, calls = counted()
    ask = remembering(square, size=1)
    ask(1)
    ask(2)
    ask(1)
    assert calls == [1, 2, 1]


def test_lists_are_not_remembered():
    ask = remembering(sum)
    assert [ask([1, 2]), ask([3])] == [3, 3]
    assert ask.forget() == 0
