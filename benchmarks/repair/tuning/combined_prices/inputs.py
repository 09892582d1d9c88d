"""What slipped: a wrong accumulator: each product overwrites the sum."""

STYLE = "matrices"
FUNCTION = "combined_prices"


def generate(rng):
    things, shops = rng.randrange(1, 4), rng.randrange(1, 4)
    orders = [[rng.randrange(0, 5) for _ in range(things)] for _ in range(rng.randrange(0, 4))]
    return orders, [[rng.randrange(1, 20) for _ in range(shops)] for _ in range(things)]
