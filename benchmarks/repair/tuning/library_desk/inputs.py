"""What slipped: an inverted condition: nobody ever gets into the queue."""

STYLE = "classes"


def drive(program, operations):
    """What every operation gave, and who has what."""
    library = program.Library("uvwxyz")
    results = []
    for name, *arguments in operations:
        try:
            results.append(getattr(library, name)(*arguments))
        except KeyError:
            results.append("not lent")
    return results, library.loans, library.free


def generate(rng):
    def operation():
        title = rng.choice("uvwxyzq")
        return ("borrow", rng.choice("ab"), title) if rng.random() < 0.7 else ("give_back", title)

    return ([operation() for _ in range(rng.randrange(0, 16))],)
