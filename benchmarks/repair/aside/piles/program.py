"""Ways to heap up stones."""


def piles(stones, largest):
    """All lists of piles, no pile higher than the one before it nor than `largest`, highest first pile first."""
    if stones == 0:
        return [[]]
    found = []
    for first in range(min(stones, largest), 0, -1):
        for rest in piles(stones - first, first - 1):
            found.append([first] + rest)
    return found
