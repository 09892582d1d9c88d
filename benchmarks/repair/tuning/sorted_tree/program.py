"""A tree that keeps its values in order."""


class Node:
    def __init__(self, value):
        self.value = value
        self.left = None
        self.right = None


class SortedTree:
    """Every value once; iteration goes from the least to the greatest."""

    def __init__(self, values=()):
        self.root = None
        for value in values:
            self.add(value)

    def add(self, value):
        """False if it was there already."""
        if self.root is None:
            self.root = Node(value)
            return True
        node = self.root
        while node.value != value:
            side = "left" if value < node.value else "right"
            child = getattr(node, side)
            if child is None:
                setattr(node, side, Node(value))
                return True
            node = child
        return False

    def __iter__(self):
        waiting = []
        node = self.root
        while waiting or node:
            while node:
                waiting.append(node)
                node = node.left
            node = waiting.pop()
            yield node.value
            node = node.left
