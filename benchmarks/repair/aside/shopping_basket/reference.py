"""A basket in a web shop."""


class Basket:
    """Things and how many of each, in the order they first came."""

    def __init__(self):
        self.counts = {}

    def add(self, thing, count=1):
        self.counts[thing] = self.counts.get(thing, 0) + count

    def remove(self, thing, count=1):
        """Take some out again; more than there are takes all."""
        if thing not in self.counts:
            return
        self.counts[thing] -= count
        if self.counts[thing] <= 0:
            del self.counts[thing]

    def total(self, prices):
        """The price of all; three of a kind cost as much as two."""
        total = 0
        for thing, count in self.counts.items():
            paid = count - count // 3
            total += paid * prices[thing]
        return total
