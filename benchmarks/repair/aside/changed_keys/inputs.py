"""What slipped: the wrong operator: what was added is called removed too."""

STYLE = "dictionaries"
FUNCTION = "summary"


def generate(rng):
    def record():
        return {key: rng.randrange(2) for key in rng.sample("abcde", rng.randrange(0, 5))}

    return record(), record()
