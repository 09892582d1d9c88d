"""Ways to put stamps on a letter, where their order on the letter matters."""


def stamp_ways(postage, stamps):
    """How many sequences of stamps are worth exactly the postage; nothing to pay has one way."""
    if postage == 0:
        return 1
    if postage < 0:
        return 0
    ways = 0
    for stamp in stamps:
        ways += stamp_ways(postage - stamp, stamps)
    return ways
