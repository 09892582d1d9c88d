"""The desk of a small library."""


class Library:
    """Books are titles, readers are names."""

    LIMIT = 3

    def __init__(self, titles):
        self.free = set(titles)
        self.loans = {}
        self.waiting = {}

    def borrowed_by(self, reader):
        return sorted(title for title, who in self.loans.items() if who == reader)

    def borrow(self, reader, title):
        """'lent', 'limit', 'queued' for a book that is out, or 'unknown'."""
        if title not in self.free and title not in self.loans:
            return "unknown"
        if title in self.loans:
            queue = self.waiting.setdefault(title, [])
            if reader in queue and self.loans[title] != reader:
                queue.append(reader)
            return "queued"
        if len(self.borrowed_by(reader)) >= self.LIMIT:
            return "limit"
        self.free.remove(title)
        self.loans[title] = reader
        return "lent"

    def give_back(self, title):
        """The next reader waiting, who gets the book whatever the limit; None if there is none."""
        del self.loans[title]
        queue = self.waiting.get(title)
        if queue:
            following = queue.pop(0)
            self.loans[title] = following
            return following
        self.free.add(title)
        return None
