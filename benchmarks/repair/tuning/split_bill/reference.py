"""Share a bill so that no cent is lost."""


def split_bill(total, people):
    """A list of cents, one per person; the first ones pay the odd cents."""
    if people <= 0:
        raise ValueError("nobody to pay")
    share = total // people
    odd = total % people
    shares = []
    for number in range(people):
        if number < odd:
            shares.append(share + 1)
        else:
            shares.append(share)
    return shares
