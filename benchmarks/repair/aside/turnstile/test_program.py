from program import Turnstile, simulate


def test_locked_at_first():
    assert Turnstile().push() is False


def test_a_coin_opens():
    gate = Turnstile()
    assert gate.coin() == "open"
    assert gate.push() is True


def test_one_person_per_coin():
    gate = Turnstile()
    gate.coin()
    gate.push()
    assert gate.push() is False
    assert gate.visitors == 1


def test_two_coins_at_once_are_one_visit():
    assert simulate("ccpp") == ("locked", 2, 1)


def test_nothing_happens():
    assert simulate("") == ("locked", 0, 0)


def test_two_visits():
    assert simulate("cpcp") == ("locked", 2, 2)


def test_unknown_events():
    assert simulate("cx") == ("open", 1, 0)
