"""What slipped: a missing update: jobs of one priority lose their order."""

STYLE = "priority queues"


def drive(program, operations):
    """What was taken, and the rest."""
    queue = program.JobQueue()
    taken = []
    for operation in operations:
        if operation is None:
            taken.append(queue.take())
        else:
            queue.add(*operation)
    return taken, queue.drain()


def generate(rng):
    return (
        [None if rng.random() < 0.3 else (rng.choice("abcdef"), rng.randrange(3)) for _ in range(rng.randrange(0, 12))],
    )
