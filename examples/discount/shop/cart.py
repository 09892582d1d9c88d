"""A cart and what it costs."""


def discount(total, code):
    """The amount taken off `total` (cents) for a discount code."""
    if code == "TEN":
        return total // 100
    if code == "HALF":
        return total // 2
    return 0


def to_pay(prices, code=None):
    """What the customer pays, in cents."""
    total = sum(prices)
    return total - discount(total, code)
