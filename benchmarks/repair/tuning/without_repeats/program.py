"""Quiet down a chatty sensor."""

_NOTHING = object()


def without_repeats(readings, tolerance=0):
    """Readings that differ from the last one passed on by more than the tolerance."""
    last = None
    for reading in readings:
        if last is None or abs(reading - last) > tolerance:
            yield reading


def changes(readings):
    """(place, reading) of every change; the first reading is one."""
    last = _NOTHING
    for place, reading in enumerate(readings):
        if reading != last:
            yield place, reading
            last = reading
