"""Numbers for people who wait."""


def ticket_counter(first=1, last=99):
    """A function giving the next number each time; after the last comes the first again."""
    current = first - 1

    def next_ticket():
        nonlocal current
        current += 1
        if current > last:
            current = first
        return current

    return next_ticket


def named_counters(*names):
    """name -> counter of its own."""
    return {name: ticket_counter() for name in names}
