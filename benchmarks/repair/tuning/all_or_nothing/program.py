"""Changes that happen together or not at all."""

from contextlib import contextmanager


@contextmanager
def all_or_nothing(record):
    """Changes made to the dictionary inside are undone if an error ends the block; the error goes on."""
    before = record
    try:
        yield record
    except Exception:
        record.clear()
        record.update(before)
        raise


def apply_changes(record, changes):
    """True if all (name, amount) changes were made; False, and none made, if a value would be negative."""
    try:
        with all_or_nothing(record):
            for name, amount in changes:
                record[name] = record.get(name, 0) + amount
                if record[name] < 0:
                    raise ValueError(name)
    except ValueError:
        return False
    return True
