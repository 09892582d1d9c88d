"""How a loan is paid back."""


def loan_plan(amount, percent, payment):
    """The balances after each year, in cents, ending with 0.

    Interest is added at the end of a year, rounded down, then the payment is made.
    A payment that does not even cover the first interest is refused.
    """
    if payment <= amount * percent // 100:
        raise ValueError("the loan would never end")
    balance = amount
    balances = []
    while balance > 0:
        interest = amount * percent // 100
        balance = balance + interest - payment
        if balance < 0:
            balance = 0
        balances.append(balance)
    return balances
