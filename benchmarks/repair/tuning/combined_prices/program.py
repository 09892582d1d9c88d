"""What several orders cost in several shops."""


def combined_prices(orders, prices):
    """One row per order, one column per shop.

    `orders[i][k]` is how many of thing k are ordered, `prices[k][j]` what shop j takes for it.
    """
    shops = len(prices[0]) if prices else 0
    result = []
    for order in orders:
        row = []
        for shop in range(shops):
            total = 0
            for thing, count in enumerate(order):
                total = count * prices[thing][shop]
            row.append(total)
        result.append(row)
    return result


def cheapest_shop(order, prices):
    """The number of the shop that takes least; the first of equals."""
    totals = combined_prices([order], prices)[0]
    return totals.index(min(totals))
