"""What words have in common."""


def shared_start(words):
    """The longest text all words begin with."""
    if not words:
        return ""
    start = words[0]
    for word in words[1:]:
        while not word.startswith(start):
            start = start[:-1]
        return start
