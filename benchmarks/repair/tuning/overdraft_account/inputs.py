"""What slipped: the wrong sign: the limit is asked on the wrong side of zero."""

STYLE = "bank accounts"


def drive(program, limit, operations):
    """What every operation gave, and the account after it."""
    account = program.Account("x", limit)
    results = []
    for name, cents in operations:
        try:
            results.append(getattr(account, name)(cents))
        except ValueError:
            results.append("refused")
        results.append((account.balance, account.available()))
    return results, account.history


def generate(rng):
    operations = [
        (rng.choice(["deposit", "withdraw", "withdraw"]), rng.randrange(0, 60)) for _ in range(rng.randrange(0, 10))
    ]
    return rng.choice([0, 20, 50]), operations
