import pytest
from program import Library


@pytest.fixture
def library():
    return Library(["Emma", "Ulysses", "Dune", "It", "Kim"])


def test_lend(library):
    assert library.borrow("ann", "Dune") == "lent"
    assert library.borrowed_by("ann") == ["Dune"]


def test_unknown(library):
    assert library.borrow("ann", "Momo") == "unknown"


def test_limit(library):
    for title in ("Emma", "Dune", "It"):
        library.borrow("ann", title)
    assert library.borrow("ann", "Kim") == "limit"


def test_give_back(library):
    library.borrow("ann", "Kim")
    assert library.give_back("Kim") is None
    assert library.borrow("bob", "Kim") == "lent"


def test_queue(library):
    library.borrow("ann", "Kim")
    assert library.borrow("bob", "Kim") == "queued"
    assert library.give_back("Kim") == "bob"
    assert library.borrowed_by("bob") == ["Kim"]


def test_queue_is_fair(library):
    library.borrow("ann", "Kim")
    for reader in ("bob", "cem", "bob"):
        library.borrow(reader, "Kim")
    assert [library.give_back("Kim") for _ in range(3)] == ["bob", "cem", None]


def test_nobody_waits_for_their_own_book(library):
    library.borrow("ann", "It")
    library.borrow("ann", "It")
    assert library.give_back("It") is None


def test_not_lent(library):
    with pytest.raises(KeyError):
        library.give_back("It")
