"""What slipped: a missing field: the copy falls back to the default."""

STYLE = "dataclasses"


def drive(program, people, grams, steps):
    """Grams and people after scaling again and again."""
    recipe = program.Recipe("r", people, grams)
    for step in steps:
        recipe = recipe.scaled(step)
    return recipe.people, recipe.grams, recipe.weight()


def generate(rng):
    grams = {what: rng.randrange(1, 900) for what in rng.sample("abc", rng.randrange(1, 4))}
    return rng.randrange(1, 8), grams, [rng.randrange(1, 9) for _ in range(rng.randrange(0, 4))]
