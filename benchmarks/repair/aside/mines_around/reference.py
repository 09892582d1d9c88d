"""The numbers on a mine field."""


def mines_around(field, row, column):
    """How many of the up to eight fields around this one hold a mine ('*')."""
    count = 0
    for r in range(row - 1, row + 2):
        for c in range(column - 1, column + 2):
            if (r, c) == (row, column):
                continue
            if 0 <= r < len(field) and 0 <= c < len(field[0]) and field[r][c] == "*":
                count += 1
    return count


def lonely_mines(field):
    """Places of all mines without a neighbour."""
    return [
        (r, c)
        for r, line in enumerate(field)
        for c, mark in enumerate(line)
        if mark == "*" and mines_around(field, r, c) == 0
    ]
