"""What slipped: the wrong variable, twice: the last bridge counts instead of the weakest."""

STYLE = "graphs"
FUNCTION = "heaviest_load"


def generate(rng):
    bridges = [(*rng.sample("abcdef", 2), rng.randrange(1, 12)) for _ in range(rng.randrange(0, 10))]
    return bridges, *rng.sample("abcdef", 2)
