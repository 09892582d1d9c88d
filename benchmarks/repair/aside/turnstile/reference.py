"""The gate of a swimming pool."""


class Turnstile:
    """Opens for one person per coin; coins thrown into an open gate are kept."""

    def __init__(self):
        self.state = "locked"
        self.coins = 0
        self.visitors = 0

    def coin(self):
        self.coins += 1
        if self.state == "locked":
            self.state = "open"
        return self.state

    def push(self):
        """True if the person got in."""
        if self.state != "open":
            return False
        self.visitors += 1
        self.state = "locked"
        return True


def simulate(events):
    """(state, coins, visitors) after events 'c' and 'p'."""
    gate = Turnstile()
    for event in events:
        if event == "c":
            gate.coin()
        elif event == "p":
            gate.push()
    return gate.state, gate.coins, gate.visitors
