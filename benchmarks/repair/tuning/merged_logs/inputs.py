"""What slipped: the wrong index: the time of the line before is pushed."""

STYLE = "priority queues"
FUNCTION = "merged_logs"


def generate(rng):
    return (
        [
            [(time, f"{number}") for time in sorted(rng.randrange(20) for _ in range(rng.randrange(0, 5)))]
            for number in range(rng.randrange(0, 4))
        ],
    )
