"""One log out of many."""

import heapq


def merged_logs(logs):
    """(time, text) lines of logs that are each in order, all in order; of one time the earlier log first."""
    heap = []
    for number, log in enumerate(logs):
        if log:
            heapq.heappush(heap, (log[0][0], number, 0))
    merged = []
    while heap:
        _, number, place = heapq.heappop(heap)
        log = logs[number]
        merged.append(log[place])
        following = place + 1
        if following < len(log):
            heapq.heappush(heap, (log[place][0], number, following))
    return merged
