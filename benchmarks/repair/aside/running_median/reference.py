"""The middle of a stream of numbers."""

import heapq


class RunningMedian:
    """Two heaps: the lower half (negated, so that its largest is on top) and the upper half."""

    def __init__(self):
        self.lower = []
        self.upper = []

    def add(self, number):
        if self.lower and number > -self.lower[0]:
            heapq.heappush(self.upper, number)
        else:
            heapq.heappush(self.lower, -number)
        if len(self.lower) > len(self.upper) + 1:
            heapq.heappush(self.upper, -heapq.heappop(self.lower))
        elif len(self.upper) > len(self.lower):
            heapq.heappush(self.lower, -heapq.heappop(self.upper))

    def median(self):
        """None without numbers; the mean of the two in the middle if there are two."""
        if not self.lower:
            return None
        if len(self.lower) > len(self.upper):
            return -self.lower[0]
        return (self.upper[0] - self.lower[0]) / 2


def medians(numbers):
    """The median after each number."""
    stream = RunningMedian()
    found = []
    for number in numbers:
        stream.add(number)
        found.append(stream.median())
    return found
