"""Stretch a line to both margins."""


def block_justify(words, width):
    """One line of exactly `width` letters; the left gaps are the wider ones."""
    if len(words) == 1:
        return words[0].ljust(width)
    letters = sum(len(word) for word in words)
    gaps = len(words) - 1
    every, extra = divmod(width - letters, gaps)
    line = ""
    for index, word in enumerate(words[:-1]):
        line += word + " " * every
        if index < extra:
            line += " "
    return line + words[-1]
