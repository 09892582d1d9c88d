"""What slipped: a missing statement: the lowest balance is not noted."""

STYLE = "bank accounts"


def drive(program, percent, operations):
    """What every operation gave, with the balance after it."""
    book = program.SavingsBook(percent)
    results = []
    for name, *arguments in operations:
        try:
            results.append((getattr(book, name)(*arguments), book.balance))
        except ValueError:
            results.append("refused")
    return results


def generate(rng):
    def operation():
        name = rng.choice(["deposit", "withdraw", "end_month", "end_month"])
        return (name,) if name == "end_month" else (name, rng.randrange(1, 20_000))

    return rng.randrange(1, 15), [operation() for _ in range(rng.randrange(0, 12))]
