"""A progressive tax in brackets."""

BRACKETS = [(10_000, 0), (25_000, 15), (60_000, 28), (None, 42)]


def income_tax(income):
    """Whole units of tax; every bracket's rate applies to the part of the income inside it."""
    tax = 0
    lower = 0
    for upper, rate in BRACKETS:
        if upper is None or income < upper:
            return (tax + (income - lower) * rate) // 100
        tax += (upper - lower) * rate
        lower = upper
    return tax // 100
