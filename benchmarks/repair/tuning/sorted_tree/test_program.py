from itertools import islice

from program import SortedTree


def values(tree):
    """Not for ever, whatever the tree does."""
    return list(islice(tree, 20))


def test_empty():
    assert values(SortedTree()) == []


def test_one():
    assert values(SortedTree([4])) == [4]


def test_add():
    assert SortedTree([1]).add(2) is True


def test_add_twice():
    assert SortedTree([1, 2]).add(2) is False


def test_rising():
    assert values(SortedTree([1, 2, 3])) == [1, 2, 3]


def test_bushy():
    assert values(SortedTree([5, 2, 8, 1, 3, 9, 7])) == [1, 2, 3, 5, 7, 8, 9]


def test_twice_is_once():
    assert values(SortedTree([2, 1, 2])) == [1, 2]


def test_words():
    assert values(SortedTree(["pear", "fig", "plum"])) == ["fig", "pear", "plum"]
