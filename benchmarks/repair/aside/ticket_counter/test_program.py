from program import named_counters, ticket_counter


def test_begins_with_one():
    assert ticket_counter()() == 1


def test_counts():
    ticket = ticket_counter()
    assert [ticket(), ticket(), ticket()] == [1, 2, 3]


def test_other_first():
    ticket = ticket_counter(first=50)
    assert [ticket(), ticket()] == [50, 51]


def test_round_the_end():
    ticket = ticket_counter(1, 3)
    assert [ticket() for _ in range(5)] == [1, 2, 3, 1, 2]


def test_only_one_number():
    ticket = ticket_counter(7, 7)
    assert [ticket(), ticket()] == [7, 7]


def test_counters_are_separate():
    counters = named_counters("bread", "cheese")
    counters["bread"]()
    counters["bread"]()
    assert counters["cheese"]() == 1


def test_the_whole_round():
    ticket = ticket_counter(0, 9)
    assert [ticket() for _ in range(10)] == list(range(10))
