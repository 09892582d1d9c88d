"""Can the order be sent?"""


def shortages(stock, order):
    """thing -> how many are missing, for all that are."""
    missing = {}
    for thing, wanted in order.items():
        there = stock.get(thing, 0)
        if there < wanted:
            missing[thing] = wanted - there
    return missing


def ship(stock, order):
    """The stock after the order is sent; things used up leave it. A shortage is a ValueError."""
    missing = shortages(stock, order)
    if missing:
        raise ValueError(f"missing: {', '.join(sorted(missing))}")
    left = dict(stock)
    for thing, wanted in order.items():
        left[thing] = left.get(thing, 0) - wanted
        if left[thing] == 0:
            del left[thing]
    return left
