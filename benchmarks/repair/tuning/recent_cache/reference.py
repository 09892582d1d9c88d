"""A cache that forgets what was not used for longest."""


class RecentCache:
    """At most `size` entries."""

    def __init__(self, size):
        self.size = size
        self.entries = {}
        self.hits = 0
        self.misses = 0

    def get(self, key, default=None):
        if key not in self.entries:
            self.misses += 1
            return default
        self.hits += 1
        value = self.entries.pop(key)
        self.entries[key] = value
        return value

    def put(self, key, value):
        if key in self.entries:
            self.entries.pop(key)
        elif len(self.entries) >= self.size:
            oldest = next(iter(self.entries))
            del self.entries[oldest]
        self.entries[key] = value

    def keys(self):
        """Longest unused first."""
        return list(self.entries)
