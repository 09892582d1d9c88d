"""Try again."""


class GivenUp(Exception):
    """All tries failed."""


def persistently(action, tries, forgiven=(OSError,)):
    """(result, number of the try that worked).

    Only forgiven errors lead to another try, any other goes up at once. After the last try `GivenUp` is
    raised, caused by the last error.
    """
    last = None
    for number in range(0, tries + 1):
        try:
            return action(), number
        except forgiven as error:
            last = error
    raise GivenUp(f"{tries} tries failed") from last
