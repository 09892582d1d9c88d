"""What slipped: two edits: parts of a version are kept as text, and zeros too."""

STYLE = "parsing"
FUNCTION = "newest"


def generate(rng):
    return (
        [
            ".".join(str(rng.choice([0, 1, 2, 9, 10, 11])) for _ in range(rng.randrange(1, 4)))
            for _ in range(rng.randrange(0, 5))
        ],
    )
