"""What slipped: the wrong object: what is restored is the changed one."""

STYLE = "exceptions"
FUNCTION = "apply_changes"


def generate(rng):
    record = {name: rng.randrange(0, 6) for name in rng.sample("abc", rng.randrange(0, 4))}
    return record, [(rng.choice("abc"), rng.randrange(-4, 6)) for _ in range(rng.randrange(0, 4))]
