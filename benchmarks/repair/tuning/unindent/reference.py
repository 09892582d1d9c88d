"""Move a block of text to the left margin."""


def margin(line):
    """How many blanks a line begins with."""
    return len(line) - len(line.lstrip(" "))


def unindent(text):
    """The text without the margin all its lines share; blank lines do not count and become empty."""
    lines = text.split("\n")
    margins = [margin(line) for line in lines if line.strip()]
    if not margins:
        return "\n".join("" for _ in lines)
    cut = min(margins)
    return "\n".join(line[cut:] if line.strip() else "" for line in lines)
