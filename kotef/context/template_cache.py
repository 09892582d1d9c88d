"""Cache of compiled prompt templates on disk."""

import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from pickle import UnpicklingError

from jinja2.bccache import Bucket, BytecodeCache

from kotef import __version__
from kotef.errors import KotefError
from kotef.files import write_atomic


class Compiled(BytecodeCache):
    """Beside Python's own byte code of this package, and under the same conditions.

    Compiling a template costs twenty milliseconds and more. What is found is used only if it was made of this very
    text by this Python and this kotef; a place that cannot be written costs the time and nothing else.
    """

    def __init__(self, how: str = "") -> None:
        """`how`: everything except their text that decides how templates are compiled."""
        self.how = how

    def get_source_checksum(self, source: str) -> str:
        """Checksum of the text and of everything else that decides how it is compiled."""
        return f"{__version__} {self.how} {super().get_source_checksum(source)}"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load the cached code if it belongs to this template."""
        with suppress(OSError, EOFError, UnpicklingError):  # not there, or a file that was cut
            bucket.bytecode_from_string(_place(bucket).read_bytes())

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store it, unless Python is told not to write byte code."""
        if not sys.dont_write_bytecode:
            with suppress(OSError, KotefError):
                write_atomic(_place(bucket), bucket.bytecode_to_string())


def _place(bucket: Bucket) -> Path:
    return Path(cache_from_source(__file__)).with_name(f"{bucket.key}.{sys.implementation.cache_tag}.jinja")
