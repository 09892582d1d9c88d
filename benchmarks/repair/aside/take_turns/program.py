"""Several queues, one counter."""


def take_turns(*queues):
    """One item of each queue in turn; a queue that is through is passed over."""
    waiting = [iter(queue) for queue in queues]
    while waiting:
        still = []
        for queue in waiting:
            try:
                yield next(queue)
            except StopIteration:
                return
            still.append(queue)
        waiting = still
