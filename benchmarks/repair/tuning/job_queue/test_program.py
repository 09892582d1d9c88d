from program import JobQueue


def queue_of(*jobs):
    queue = JobQueue()
    for name, urgency in jobs:
        queue.add(name, urgency)
    return queue


def test_empty():
    assert JobQueue().take() is None


def test_one():
    assert queue_of(("eat", 1)).take() == "eat"


def test_urgent_first():
    assert queue_of(("a", 1), ("b", 9), ("c", 5)).drain() == ["b", "c", "a"]


def test_first_come_first_served():
    assert queue_of(("z", 1), ("m", 1), ("a", 1)).drain() == ["z", "m", "a"]


def test_default_urgency():
    queue = JobQueue()
    queue.add("later")
    queue.add("now", 1)
    assert queue.take() == "now"


def test_add_between():
    queue = queue_of(("b", 2), ("a", 2))
    queue.take()
    queue.add("A", 2)
    assert queue.drain() == ["a", "A"]


def test_drained():
    queue = queue_of(("a", 1))
    queue.drain()
    assert queue.drain() == []
