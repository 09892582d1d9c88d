import pytest
from program import GivenUp, persistently


class Flaky:
    """Fails so many times first."""

    def __init__(self, failures, error=OSError):
        self.left = failures
        self.error = error
        self.calls = 0

    def __call__(self):
        self.calls += 1
        if self.left:
            self.left -= 1
            raise self.error("not now")
        return "done"


def test_works_at_once():
    assert persistently(Flaky(0), 3) == ("done", 1)


def test_works_at_last():
    assert persistently(Flaky(2), 3) == ("done", 3)


def test_gives_up():
    with pytest.raises(GivenUp):
        persistently(Flaky(9), 3)


def test_number_of_calls():
    action = Flaky(9)
    with pytest.raises(GivenUp):
        persistently(action, 3)
    assert action.calls == 3


def test_other_errors_go_up():
    with pytest.raises(KeyError):
        persistently(Flaky(1, KeyError), 3)


def test_forgiven():
    assert persistently(Flaky(1, KeyError), 3, forgiven=(KeyError,)) == ("done", 2)


def test_cause():
    with pytest.raises(GivenUp) as caught:
        persistently(Flaky(5), 2)
    assert isinstance(caught.value.__cause__, OSError)
