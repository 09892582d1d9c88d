"""A bound on CPU time that tells linear from quadratic work on any machine; what is compared more closely is in `benchmarks/`."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def bounded_cpu(seconds: float = 20) -> Iterator[None]:
    """Fail if the block takes more CPU `seconds` of this process.

    Inputs are large enough for a block that takes linear time to end within a tenth of it, and for one that takes quadratic
    time to need minutes, so that the bound depends on no machine.
    """
    started = time.process_time()
    yield
    spent = time.process_time() - started
    assert spent < seconds, f"{spent:.1f} CPU s, more than {seconds}"
