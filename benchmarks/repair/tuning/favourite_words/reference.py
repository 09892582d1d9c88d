"""The words a text likes best."""


def count_words(text):
    """word -> how often, in small letters, without marks at its ends."""
    counts = {}
    for piece in text.lower().split():
        word = piece.strip(".,;:!?\"'()")
        if word:
            counts[word] = counts.get(word, 0) + 1
    return counts


def favourite_words(text, how_many):
    """The most frequent words, those of one count in the order of the alphabet."""
    counts = count_words(text)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return ranked[:how_many]
