"""Programs without their comments."""


def without_comments(line):
    """The line up to its '#'; one inside single or double quotes is none. Blanks at the end go."""
    quote = None
    for place, char in enumerate(line):
        if quote is not None:
            if char == quote:
                quote = None
        elif char in "'\"":
            quote = char
        elif char == "#":
            return line[:place].rstrip()
    return line.rstrip()


def code_lines(text):
    """How many lines hold more than a comment."""
    return sum(1 for line in text.splitlines() if without_comments(line))
