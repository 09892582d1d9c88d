"""How many rooms do the meetings need?"""

import heapq


def rooms_needed(meetings):
    """The least number of rooms for (begin, end) meetings; an end may be another's begin."""
    ends = []
    most = 0
    for begin, end in sorted(meetings):
        while ends and ends[0] < begin:
            heapq.heappop(ends)
        heapq.heappush(ends, end)
        most = max(most, len(ends))
    return most
