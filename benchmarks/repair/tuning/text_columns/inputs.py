"""What slipped: a sibling method: numbers are set to the left like names."""

STYLE = "strings"
FUNCTION = "text_columns"


def generate(rng):
    rows = [
        ("n" * rng.randrange(1, 6), rng.choice([rng.randrange(0, 10), rng.randrange(0, 5000)]))
        for _ in range(rng.randrange(0, 5))
    ]
    return rows, rng.randrange(1, 4)
