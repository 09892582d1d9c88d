"""How far news spreads."""


def within_hops(roads, start, hops):
    """Places that can be reached over at most so many roads, the start included; roads go one way."""
    reached = {start}
    edge = {start}
    steps = 1
    while steps < hops and edge:
        following = set()
        for place in edge:
            for target in roads.get(place, ()):
                if target not in reached:
                    following.add(target)
        reached |= following
        edge = following
        steps += 1
    return sorted(reached)


def hops_between(roads, start, goal):
    """The smallest number of roads from start to goal; None if there is no way."""
    for hops in range(len(roads) + 2):
        if goal in within_hops(roads, start, hops):
            return hops
    return None
