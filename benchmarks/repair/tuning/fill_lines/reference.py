"""Put words into lines."""


def fill_lines(words, width):
    """Lines of at most `width` letters, each as full as it can be; a longer word has a line for itself."""
    lines = []
    line = []
    length = 0
    for word in words:
        if line and length + 1 + len(word) > width:
            lines.append(" ".join(line))
            line = []
            length = 0
        if line:
            length += 1
        line.append(word)
        length += len(word)
    if line:
        lines.append(" ".join(line))
    return lines
