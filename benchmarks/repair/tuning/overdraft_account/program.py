"""An account that may go a little below zero."""


class Account:
    """Money of one person, in cents."""

    def __init__(self, owner, limit=0):
        self.owner = owner
        self.limit = limit
        self.balance = 0
        self.history = []

    def deposit(self, cents):
        if cents <= 0:
            raise ValueError("a deposit is more than nothing")
        self.balance += cents
        self.history.append(("deposit", cents))

    def withdraw(self, cents):
        """True if the money could be had."""
        if cents <= 0:
            raise ValueError("a withdrawal is more than nothing")
        if self.balance - cents < self.limit:
            return False
        self.balance -= cents
        self.history.append(("withdraw", cents))
        return True

    def available(self):
        """The most that can be withdrawn now."""
        return self.balance + self.limit
