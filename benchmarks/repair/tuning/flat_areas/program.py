"""Rectangles on a plan."""

from dataclasses import dataclass


@dataclass
class Room:
    """Left and top corner, width and height, in metres."""

    x: int
    y: int
    width: int
    height: int

    @property
    def area(self):
        return self.width * self.height

    def common(self, other):
        """The part both rooms cover, or None."""
        left = max(self.x, other.x)
        top = max(self.y, other.y)
        right = min(self.x + self.width, other.x + other.width)
        bottom = max(self.y + self.height, other.y + other.height)
        if left >= right or top >= bottom:
            return None
        return Room(left, top, right - left, bottom - top)


def covered(one, other):
    """The area two rooms cover together, what they share counted once."""
    shared = one.common(other)
    return one.area + other.area - (shared.area if shared else 0)
