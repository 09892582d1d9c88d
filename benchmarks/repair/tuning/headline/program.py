"""Titles in the manner of newspapers."""

SMALL = {"a", "an", "and", "at", "by", "for", "in", "of", "on", "or", "the", "to"}


def headline(text):
    """Words begin with a capital, except small words inside; words of the first and last place always do."""
    words = text.lower().split()
    shown = []
    for index, word in enumerate(words):
        inside = index < len(words) - 1
        if word in SMALL and inside:
            shown.append(word)
        else:
            shown.append(word.capitalize())
    return " ".join(shown)
