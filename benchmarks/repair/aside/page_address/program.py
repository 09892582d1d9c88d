"""Addresses of pages from their titles."""


def page_address(title, longest=30):
    """Letters and digits in lower case, everything between them one dash, never one at an end."""
    out = []
    for char in title.strip():
        if char.isalnum():
            out.append(char)
        elif out and out[-1] != "-":
            out.append("-")
    return "".join(out)[:longest].strip("-")
