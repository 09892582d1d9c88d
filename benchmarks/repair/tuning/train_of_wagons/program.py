"""A linked list, told as a train."""


class Wagon:
    def __init__(self, load, behind=None):
        self.load = load
        self.behind = behind


class Train:
    """Wagons one behind the other."""

    def __init__(self, loads=()):
        self.first = None
        for load in reversed(list(loads)):
            self.first = Wagon(load, self.first)

    def __iter__(self):
        wagon = self.first
        while wagon is not None:
            yield wagon.load
            wagon = wagon.behind

    def place_of(self, load):
        """How many wagons are before the first one with this load; -1 if there is none."""
        place = 0
        wagon = self.first
        while wagon is not None:
            if wagon.load == load:
                return place
            place += 1
        return -1

    def uncouple(self, load):
        """Take out the first wagon with this load; True if there was one."""
        before = None
        wagon = self.first
        while wagon is not None and wagon.load != load:
            before = wagon
            wagon = wagon.behind
        if wagon is None:
            return False
        if before is None:
            self.first = wagon.behind
        else:
            before.behind = wagon.behind
        return True
