"""What slipped: the wrong word: and instead of or in a check."""

STYLE = "exceptions"
FUNCTION = "problems_of"


def generate(rng):
    form = {
        "name": rng.choice(["", " ", "a", "b" * 20, "c" * 21]),
        "mail": rng.choice(["", "@", "a@", "@a", "a@b", "ab"]),
    }
    form["age"] = rng.choice([None, -5, -1, 0, 50, 130, 131, 200])
    return (form,)
