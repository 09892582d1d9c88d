"""Card numbers fit to be shown."""


def mask_number(number, visible=4):
    """All but the last digits replaced by stars, in groups of four; blanks in the input do not count."""
    digits = number.replace(" ", "")
    if len(digits) <= visible:
        return digits
    hidden = "*" * (len(digits) - visible)
    masked = hidden + digits[-visible:]
    groups = [masked[i : i + 4] for i in range(0, len(masked), 4)]
    return " ".join(groups)
