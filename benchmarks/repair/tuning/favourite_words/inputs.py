"""What slipped: two edits: counting starts at one too many, and ties come backwards."""

STYLE = "dictionaries"


def drive(program, text, how_many):
    """The counts and the ranking."""
    return program.count_words(text), program.favourite_words(text, how_many)


def generate(rng):
    return " ".join(rng.choice(["ant", "Bee", "cow.", "!", "dog"]) for _ in range(rng.randrange(0, 10))), rng.randrange(
        0, 4
    )
