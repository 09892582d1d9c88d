"""Verbosity of retries: how prominently each retry of a model call is reported."""

from typing import Final, Literal

Loudness = Literal["quiet", "line", "loud"]
"""Not at all; in one line, for all of it; or in a line for every try that fails."""

QUIET_TRIES: Final = 3
"""Failed tries that are no one's business, except for the last of them; so are the first `QUIET_SECONDS`."""
QUIET_SECONDS: Final = 15.0
LOUD_SECONDS: Final = 60.0
"""Seconds without an answer after which a person may want to do something about it."""


def loudness(failed: int, seconds: float) -> Loudness:
    """How a retry is reported after so many failed tries, `seconds` after the first began, including the next wait."""
    if seconds >= LOUD_SECONDS:
        return "loud"
    return "line" if failed >= QUIET_TRIES or seconds >= QUIET_SECONDS else "quiet"
