"""What slipped: a boundary: a room is not given on at the minute it gets free."""

STYLE = "priority queues"
FUNCTION = "rooms_needed"


def meeting(rng):
    begin = rng.randrange(0, 20)
    return begin, begin + rng.randrange(1, 8)


def generate(rng):
    return ([meeting(rng) for _ in range(rng.randrange(0, 9))],)
