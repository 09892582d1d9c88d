"""A savings book that pays interest by the month."""


class SavingsBook:
    """Interest is added at the end of each month, on the lowest balance of that month, rounded down."""

    def __init__(self, yearly_percent):
        self.yearly_percent = yearly_percent
        self.balance = 0
        self.lowest = 0

    def deposit(self, cents):
        self.balance += cents

    def withdraw(self, cents):
        if cents > self.balance:
            raise ValueError(f"only {self.balance} left")
        self.balance -= cents
        self.lowest = min(self.lowest, self.balance)

    def end_month(self):
        """The interest paid."""
        interest = self.lowest * self.yearly_percent // 1200
        self.balance += interest
        self.lowest = self.balance
        return interest
