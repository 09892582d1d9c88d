"""What slipped: off by one: the last page of a range is not printed."""

STYLE = "parsing"
FUNCTION = "page_ranges"


def generate(rng):
    def part():
        low = rng.randrange(0, 15)
        return rng.choice([str(low), f"{low}-{low + rng.randrange(0, 5)}", f"{low}-", f"-{low}", ""])

    return ",".join(part() for _ in range(rng.randrange(0, 4))), rng.randrange(1, 15)
