"""Change with as few coins as a cashier would use."""

COINS = [200, 100, 50, 20, 10, 5, 2, 1]


def till_coins(amount, coins=COINS):
    """coin -> how many, always taking the largest coin that fits; the coins are sorted, largest first."""
    used = {}
    for coin in coins:
        count = 0
        while amount >= coin:
            count += 1
        if count:
            used[coin] = count
    if amount:
        raise ValueError(f"{amount} cannot be paid")
    return used
