"""A small table as text."""


def text_columns(rows, gap=2):
    """Rows of (name, number) as lines; names left, numbers right, each column as wide as its widest entry."""
    if not rows:
        return []
    left = max(len(name) for name, _ in rows)
    right = max(len(str(number)) for _, number in rows)
    lines = []
    for name, number in rows:
        lines.append(name.ljust(left) + " " * gap + str(number).ljust(right))
    return lines
