"""Sums in square tables of numbers."""


def slanted_sum(square):
    """The sum of both diagonals, the middle counted once."""
    size = len(square)
    total = 0
    for i in range(size):
        total += square[i][i]
        other = size - 1 - i
        if other != i:
            total += square[i][other]
    return total


def is_magic(square):
    """All rows, columns and both diagonals have the same sum."""
    size = len(square)
    sums = {sum(row) for row in square}
    sums |= {sum(row[c] for row in square) for c in range(size)}
    sums.add(sum(square[i][i] for i in range(size)))
    sums.add(sum(square[i][-1 - i] for i in range(size)))
    return len(sums) == 1
