"""Fields of a form as browsers send them."""


def decode(text):
    """Plus signs are blanks, %41 is the letter A."""
    out = ""
    i = 0
    while i < len(text):
        if text[i] == "+":
            out += " "
        elif text[i] == "%" and i + 2 < len(text):
            out += chr(int(text[i + 1 : i + 3], 16))
            i += 2
        else:
            out += text[i]
        i += 1
    return out


def form_fields(text):
    """name -> list of values, in the order they came; a field without '=' has an empty value."""
    fields = {}
    for part in text.split("&"):
        if not part:
            continue
        pieces = part.split("=")
        name = decode(pieces[0])
        value = decode(pieces[1]) if len(pieces) == 2 else ""
        fields.setdefault(name, []).append(value)
    return fields
