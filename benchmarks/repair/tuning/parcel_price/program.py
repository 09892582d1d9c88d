"""Postage by weight, size and speed."""

STEPS = [(500, 270), (1000, 430), (2000, 550), (5000, 770)]


def parcel_price(grams, express=False, insured=0):
    """Cents for a parcel; None when it is too heavy to be sent."""
    price = None
    for limit, cents in STEPS:
        if grams <= limit:
            price = cents
            break
    if price is None:
        return None
    if express:
        price += 350
    if insured > 100:
        price = insured // 50
    return price
