import pytest
from program import LeastStack


def stack_of(*values):
    stack = LeastStack()
    for value in values:
        stack.push(value)
    return stack


def test_empty():
    assert LeastStack().least() is None


def test_pop_of_empty():
    with pytest.raises(IndexError):
        LeastStack().pop()


def test_last_in_first_out():
    stack = stack_of(1, 2, 3)
    assert [stack.pop(), stack.pop(), stack.pop()] == [3, 2, 1]


def test_least():
    assert stack_of(4, 2, 7).least() == 2


def test_least_after_pop():
    stack = stack_of(4, 2)
    stack.pop()
    assert stack.least() == 4


def test_equal_values():
    stack = stack_of(3, 1, 1)
    stack.pop()
    assert stack.least() == 1


def test_length():
    stack = stack_of(1, 2, 3)
    stack.pop()
    assert len(stack) == 2


def test_emptied():
    stack = stack_of(5)
    stack.pop()
    assert stack.least() is None
