"""Cut a text into paragraphs."""


def paragraphs(text):
    """Lists of lines; one or more blank lines are between two paragraphs."""
    found = []
    current = []
    for line in text.split("\n"):
        if line.strip():
            current.append(line.strip())
        else:
            found.append(current)
            current = []
    return found
