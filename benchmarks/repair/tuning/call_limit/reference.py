"""Not too often."""


def call_limit(calls, window):
    """A function of the time that says whether a call is allowed then.

    At most `calls` allowed ones are within any `window` of time: a call at 10 no longer counts at
    10 + window. Times never go back.
    """
    allowed = []

    def may_call(now):
        while allowed and allowed[0] <= now - window:
            allowed.pop(0)
        if len(allowed) >= calls:
            return False
        allowed.append(now)
        return True

    return may_call
