"""Words made of the same letters."""


def key_of(word):
    """What words of the same letters have in common."""
    return "".join(word.lower())


def same_letters(words):
    """Lists of two and more words of the same letters, in the order of their first words."""
    groups = {}
    for word in words:
        groups.setdefault(key_of(word), []).append(word)
    return [group for group in groups.values() if len(group) > 1]
