"""Work in portions."""


def batches(items, size):
    """Lists of `size` items; the last one may be shorter."""
    if size < 1:
        raise ValueError("a batch holds at least one item")
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
