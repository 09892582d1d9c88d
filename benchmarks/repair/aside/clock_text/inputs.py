"""What slipped: a missing remainder: minutes go on beyond the hour."""

STYLE = "dates"
FUNCTION = "clock_text"


def generate(rng):
    return (rng.choice([rng.randrange(-100, 100), rng.randrange(-20000, 90000)]),)
