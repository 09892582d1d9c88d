"""Shorten runs of the same letter."""


def squeeze_runs(text):
    """'aaab' becomes 'a3b'; a single letter has no number."""
    if not text:
        return ""
    pieces = []
    current = text[0]
    count = 0
    for letter in text:
        if letter == current:
            count += 1
        else:
            pieces.append(current + (str(count) if count > 1 else ""))
            current = letter
            count = 1
    return "".join(pieces)
