"""A robot that mows a lawn."""

MOVES = [(0, 1), (1, 0), (0, -1), (-1, 0)]
NAMES = "NESW"


def run_robot(commands, width, height):
    """(x, y, direction) at the end.

    It starts at (0, 0) looking north; 'F' is a step, refused at the fence, 'L' and 'R' are quarter turns.
    """
    x = y = 0
    facing = 0
    for command in commands:
        if command == "L":
            facing = (facing - 1) % 4
        elif command == "R":
            facing = (facing + 1) % 4
        elif command == "F":
            dx, dy = MOVES[facing]
            if 0 <= x + dx < width and 0 <= y + dy < height:
                x += dx
                y += dy
        else:
            raise ValueError(f"unknown command {command}")
    return x, y, NAMES[facing]
