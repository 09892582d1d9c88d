"""Start of Python's garbage collector once the frameworks are loaded."""

import gc


def loaded() -> None:
    """Exempt everything loaded so far and start the collector, which is off since the start (`kotef.__main__`).

    In a process that was not started as kotef, such as a test's, it is on already, and nothing changes.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
