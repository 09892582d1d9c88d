"""Bookings that overlap."""


def shared_days(first, second):
    """How many days two bookings (first day, last day), both days counted, have in common."""
    begin = max(first[0], second[0])
    end = min(first[1], second[1])
    days = (end - begin).days
    return days


def clashes(bookings):
    """Pairs of places in the list whose bookings share a day."""
    found = []
    for i in range(len(bookings)):
        for j in range(i + 1, len(bookings)):
            if shared_days(bookings[i], bookings[j]) > 0:
                found.append((i, j))
    return found
