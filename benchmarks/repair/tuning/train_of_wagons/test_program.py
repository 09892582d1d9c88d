from program import Train


def test_empty():
    assert list(Train()) == []


def test_in_order():
    assert list(Train(["coal", "milk"])) == ["coal", "milk"]


def test_first_place():
    assert Train(["coal", "milk"]).place_of("coal") == 0


def test_second_place():
    assert Train(["coal", "milk"]).place_of("milk") == 1


def test_no_place():
    assert Train(["coal"]).place_of("gold") == -1


def test_no_place_in_no_train():
    assert Train().place_of("gold") == -1


def test_uncouple_first():
    train = Train("abc")
    assert train.uncouple("a")
    assert list(train) == ["b", "c"]


def test_uncouple_last():
    train = Train("abc")
    assert train.uncouple("c")
    assert list(train) == ["a", "b"]


def test_uncouple_nothing():
    assert not Train("abc").uncouple("z")
