"""What slipped: a missing argument: values are cut at their own equals signs."""

STYLE = "parsing"
FUNCTION = "form_fields"


def generate(rng):
    return (
        "&".join(
            "".join(rng.choice(["a", "b", "=", "+", "%41", "c"]) for _ in range(rng.randrange(0, 6)))
            for _ in range(rng.randrange(0, 5))
        ),
    )
