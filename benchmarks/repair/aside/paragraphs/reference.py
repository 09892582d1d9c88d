"""Cut a text into paragraphs."""


def paragraphs(text):
    """Lists of lines; one or more blank lines are between two paragraphs."""
    found = []
    current = []
    for line in text.split("\n"):
        if line.strip():
            current.append(line.strip())
        elif current:
            found.append(current)
            current = []
    if current:
        found.append(current)
    return found
