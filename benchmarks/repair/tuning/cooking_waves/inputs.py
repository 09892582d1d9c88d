"""What slipped: a statement too early: what is ready is asked before it is counted down."""

STYLE = "graphs"
FUNCTION = "cooking_waves"


def generate(rng):
    dishes = "abcdefg"[: rng.randrange(0, 8)]
    needs = {dish: sorted(rng.sample(dishes[:i], rng.randrange(0, min(i, 3) + 1))) for i, dish in enumerate(dishes)}
    if dishes and rng.random() < 0.2:
        needs["a"] = [rng.choice(dishes)]
    keys = list(needs)
    rng.shuffle(keys)
    return ({key: needs[key] for key in keys},)
