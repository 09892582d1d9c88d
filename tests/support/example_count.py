"""The number of generated examples of a test, as a share that the profile of the tests decides."""

from typing import Any

from hypothesis import settings

USUAL = 50
"""What counts are written for; the default suite makes two fifths of them, the profile `thorough` twenty times as many."""


def example_count(count: int, **rest: Any) -> settings:
    """Settings for `count` examples where a test without settings of its own gets `USUAL`."""
    return settings(max_examples=max(1, count * settings.default.max_examples // USUAL), **rest)
