"""What slipped: the wrong expression: a third colour appears."""

STYLE = "graphs"
FUNCTION = "two_teams"


def generate(rng):
    people = list("abcdef")
    return people, [tuple(rng.sample(people, 2)) for _ in range(rng.randrange(0, 7))]
