"""Remember answers of slow functions."""


def remembering(function, size=100):
    """The function with a memory of its latest `size` answers; unhashable arguments are never remembered.

    `forget()` empties the memory and says how many answers were in it.
    """
    known = {}

    def ask(*arguments):
        try:
            return known[arguments]
        except KeyError:
            answer = function(*arguments)
        except TypeError:
            return function(*arguments)
        if len(known) > size:
            oldest = next(iter(known))
            del known[oldest]
        known[arguments] = answer
        return answer

    def forget():
        count = len(known)
        known.clear()
        return count

    ask.forget = forget
    return ask
