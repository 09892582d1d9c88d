"""A machine that sells drinks."""

PRICES = {"water": 100, "cola": 150, "juice": 180}


class DrinksMachine:
    """Takes coins, gives drinks and change."""

    def __init__(self, stock):
        self.stock = dict(stock)
        self.inserted = 0
        self.sales = 0

    def insert(self, cents):
        if cents not in (10, 20, 50, 100, 200):
            return False
        self.inserted += cents
        return True

    def choose(self, drink):
        """The change, or None when the drink cannot be had now."""
        if self.stock.get(drink, 0) == 0:
            return None
        price = PRICES[drink]
        if self.inserted < price:
            return None
        change = self.inserted - price
        self.stock[drink] -= 1
        self.sales += price
        self.inserted = 0
        return change

    def cancel(self):
        """Money back."""
        back = self.inserted
        self.inserted = 0
        return back
