"""Text with backslashes."""

SPECIAL = {"n": "\n", "t": "\t", "0": "\0"}


def unescaped(text):
    """Backslash and letter replaced by what they stand for; a lone backslash at the end stays."""
    out = []
    i = 0
    while i < len(text):
        char = text[i]
        if char == "\\" and i + 1 < len(text):
            following = text[i + 1]
            out.append(SPECIAL.get(following, following))
        else:
            out.append(char)
        i += 1
    return "".join(out)


def split_escaped(text, mark):
    """Cut at every mark that no backslash is before; the pieces are unescaped."""
    pieces = [""]
    skip = False
    for char in text:
        if skip:
            pieces[-1] += char
            skip = False
        elif char == mark:
            pieces.append("")
        else:
            pieces[-1] += char
            skip = char == "\\"
    return [unescaped(piece) for piece in pieces]
