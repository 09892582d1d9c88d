"""The oldest cipher there is."""


def shift_letters(text, by):
    """Every letter moved `by` places in the alphabet, round the end; all else stays."""
    moved = []
    for letter in text:
        if "a" <= letter <= "z":
            base = ord("a")
        elif "A" <= letter <= "Z":
            base = ord("a")
        else:
            moved.append(letter)
            continue
        moved.append(chr((ord(letter) - base + by) % 26 + base))
    return "".join(moved)


def unshift_letters(text, by):
    """The way back."""
    return shift_letters(text, -by)
