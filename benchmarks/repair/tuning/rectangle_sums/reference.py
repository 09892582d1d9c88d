"""Sums over parts of a table, answered at once."""


def sum_table(table):
    """A table one larger each way, whose [r][c] is the sum of all above and left of that corner."""
    height = len(table)
    width = len(table[0])
    sums = [[0] * (width + 1) for _ in range(height + 1)]
    for r in range(height):
        for c in range(width):
            sums[r + 1][c + 1] = table[r][c] + sums[r][c + 1] + sums[r + 1][c] - sums[r][c]
    return sums


def rectangle_sum(table, top, left, bottom, right):
    """The sum of the cells from (top, left) up to, not including, (bottom, right)."""
    sums = sum_table(table)
    return sums[bottom][right] - sums[top][right] - sums[bottom][left] + sums[top][left]
