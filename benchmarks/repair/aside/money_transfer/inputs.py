"""What slipped: the wrong operator: the amount replaces the receiver's balance."""

STYLE = "bank accounts"


def drive(program, fee, operations):
    """What every transfer gave, and all balances."""
    bank = program.Bank(fee)
    for name in "abc":
        bank.open(name, 100)
    return [bank.transfer(*operation) for operation in operations], bank.accounts, bank.earned, bank.total()


def generate(rng):
    operations = [(*rng.sample("abc", 2), rng.randrange(0, 90)) for _ in range(rng.randrange(0, 8))]
    return rng.choice([0, 1, 5]), operations
