"""What slipped: swapped variables: base and rest of a division."""

STYLE = "text layout"
FUNCTION = "block_justify"


def generate(rng):
    words = ["x" * rng.randrange(1, 5) for _ in range(rng.randrange(1, 6))]
    return words, sum(map(len, words)) + len(words) - 1 + rng.randrange(0, 9)
