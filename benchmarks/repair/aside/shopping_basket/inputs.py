"""What slipped: a boundary: a thing of which none is left stays in the basket."""

STYLE = "classes"


def drive(program, operations):
    """The basket and its price at the end."""
    basket = program.Basket()
    for name, thing, count in operations:
        getattr(basket, name)(thing, count)
    return basket.counts, basket.total({"a": 100, "b": 250, "c": 7})


def generate(rng):
    return (
        [
            (rng.choice(["add", "add", "remove"]), rng.choice("abc"), rng.randrange(1, 5))
            for _ in range(rng.randrange(0, 10))
        ],
    )
