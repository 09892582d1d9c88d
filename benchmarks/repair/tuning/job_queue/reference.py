"""Jobs by urgency."""

import heapq


class JobQueue:
    """The most urgent job first (the largest number); jobs of one urgency in the order they came."""

    def __init__(self):
        self._heap = []
        self._number = 0

    def add(self, name, urgency=0):
        heapq.heappush(self._heap, (-urgency, self._number, name))
        self._number += 1

    def take(self):
        """The name of the next job; None when there is nothing to do."""
        if not self._heap:
            return None
        return heapq.heappop(self._heap)[-1]

    def drain(self):
        """All names, in order; the queue is empty afterwards."""
        names = []
        while self._heap:
            names.append(self.take())
        return names
