from program import RecentCache


def filled():
    cache = RecentCache(3)
    for number, key in enumerate("abc"):
        cache.put(key, number)
    return cache


def test_get():
    assert filled().get("b") == 1


def test_missing():
    assert filled().get("z", "nothing") == "nothing"


def test_the_oldest_goes():
    cache = filled()
    cache.put("d", 3)
    assert cache.keys() == ["b", "c", "d"]


def test_reading_makes_young():
    cache = filled()
    cache.get("a")
    assert cache.keys() == ["b", "c", "a"]


def test_read_entries_survive():
    cache = filled()
    cache.get("a")
    cache.put("d", 3)
    assert cache.get("a") == 0
    assert cache.get("b") is None


def test_writing_again_makes_young():
    cache = filled()
    cache.put("a", 9)
    assert cache.keys() == ["b", "c", "a"]


def test_never_too_large():
    cache = RecentCache(2)
    for number in range(10):
        cache.put(number, number)
    assert cache.keys() == [8, 9]


def test_counts():
    cache = filled()
    cache.get("a")
    cache.get("x")
    cache.get("b")
    assert (cache.hits, cache.misses) == (2, 1)
