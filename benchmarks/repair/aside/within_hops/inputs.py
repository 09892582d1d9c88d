"""What slipped: a wrong initial value: counting begins at one."""

STYLE = "graphs"
FUNCTION = "within_hops"


def generate(rng):
    roads = {place: [rng.randrange(8) for _ in range(rng.randrange(0, 3))] for place in range(8)}
    return roads, rng.randrange(8), rng.randrange(0, 5)
