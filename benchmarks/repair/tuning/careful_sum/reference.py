"""Add up what people typed."""


def number_of(text):
    """A whole number, blanks and thousands' commas allowed; None for anything else."""
    try:
        return int(text.replace(",", "").strip())
    except ValueError:
        return None


def careful_sum(rows, field):
    """(sum, places of rows that could not be used) over one field of dictionaries."""
    total = 0
    skipped = []
    for place, row in enumerate(rows):
        try:
            number = number_of(row[field])
        except KeyError:
            skipped.append(place)
            continue
        if number is None:
            skipped.append(place)
        else:
            total += number
    return total, skipped
