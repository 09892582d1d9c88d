"""What slipped: a condition left incomplete: a small word at the start stays small."""

STYLE = "strings"
FUNCTION = "headline"


def generate(rng):
    words = ["the", "of", "Cat", "AND", "moon", "to", "sea", "in"]
    return (" ".join(rng.choice(words) for _ in range(rng.randrange(0, 7))),)
