"""Routes for heavy lorries."""

import heapq


def heaviest_load(bridges, start, goal):
    """The heaviest load that can go from start to goal.

    `bridges` holds (place, place, limit); a route carries what its weakest bridge carries. None if there
    is no route.
    """
    roads = {}
    for one, other, limit in bridges:
        roads.setdefault(one, []).append((other, limit))
        roads.setdefault(other, []).append((one, limit))
    best = {start: float("inf")}
    queue = [(-best[start], start)]
    while queue:
        load, place = heapq.heappop(queue)
        load = -load
        if place == goal:
            return load
        if load < best[place]:
            continue
        for target, limit in roads.get(place, []):
            through = min(load, limit)
            if through > best.get(target, 0):
                best[target] = through
                heapq.heappush(queue, (-through, target))
    return None
