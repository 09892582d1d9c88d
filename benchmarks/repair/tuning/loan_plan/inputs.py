"""What slipped: the wrong variable: interest is taken of the first amount for ever."""

STYLE = "arithmetic"
FUNCTION = "loan_plan"


def generate(rng):
    amount = rng.randrange(0, 5000)
    percent = rng.randrange(0, 25)
    return amount, percent, amount * percent // 100 + rng.randrange(0, 900)
