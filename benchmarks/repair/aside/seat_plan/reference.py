"""Seats of a theatre."""


def empty_plan(rows, seats):
    """A plan of free seats ('.')."""
    return [["."] * seats for _ in range(rows)]


def seat_plan(rows, seats, taken):
    """The plan as lines, with the (row, seat) pairs in `taken` marked; a pair outside is ignored."""
    plan = empty_plan(rows, seats)
    for row, seat in taken:
        if 0 <= row < rows and 0 <= seat < seats:
            plan[row][seat] = "x"
    return ["".join(line) for line in plan]


def free_seats(plan):
    """How many seats are still to be had."""
    return sum(line.count(".") for line in plan)
