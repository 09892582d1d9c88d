"""A bank with fees."""


class Bank:
    """Accounts by name; every transfer costs the sender a fee, which the bank earns."""

    def __init__(self, fee=0):
        self.fee = fee
        self.accounts = {}
        self.earned = 0

    def open(self, name, cents=0):
        if name in self.accounts:
            raise KeyError(f"{name} has an account")
        self.accounts[name] = cents

    def transfer(self, sender, receiver, cents):
        """True if the sender could pay amount and fee; nothing happens otherwise."""
        cost = cents + self.fee
        if self.accounts[sender] < cost:
            return False
        self.accounts[sender] -= cost
        self.accounts[receiver] += cents
        self.earned += self.fee
        return True

    def total(self):
        """All the money there is, the bank's included."""
        return sum(self.accounts.values()) + self.earned
