import pytest
from program import Span, joined


def test_length():
    assert Span(3, 7).length == 4


def test_touching():
    assert Span(0, 2).touches(Span(2, 5))


def test_within():
    assert Span(0, 9).touches(Span(3, 4))


def test_gap():
    assert not Span(0, 2).touches(Span(3, 5))


def test_gap_the_other_way():
    assert not Span(3, 5).touches(Span(0, 2))


def test_join():
    assert Span(2, 5).join(Span(0, 3)) == Span(0, 5)


def test_no_join():
    with pytest.raises(ValueError):
        Span(0, 1).join(Span(5, 6))


def test_joined():
    assert joined([Span(5, 6), Span(0, 2), Span(1, 4)]) == [Span(0, 4), Span(5, 6)]


def test_joined_of_none():
    assert joined([]) == []
