"""What slipped: a missing statement: the money stays in the machine after a sale."""

STYLE = "state machines"


def drive(program, operations):
    """What every operation gave, and what is left."""
    machine = program.DrinksMachine({"water": 3, "cola": 1, "juice": 2})
    results = [getattr(machine, name)(*arguments) for name, *arguments in operations]
    return results, machine.stock, machine.sales, machine.inserted


def generate(rng):
    def operation():
        kind = rng.randrange(8)
        if kind < 4:
            return ("insert", rng.choice([10, 20, 50, 100, 200, 3]))
        return ("choose", rng.choice(["water", "cola", "juice"])) if kind < 7 else ("cancel",)

    return ([operation() for _ in range(rng.randrange(0, 12))],)
