"""Output of a command: a bounded part in memory, the whole in a capped log."""

import codecs
import os
from pathlib import Path
from typing import Final

_LOG_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


class HeadTail:
    """The first and the last half of `keep` bytes of a stream."""

    def __init__(self, keep: int) -> None:
        self._half = max(1, keep // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0
        """Bytes seen."""

    def add(self, chunk: bytes) -> None:
        """Take the next bytes in."""
        self.total += len(chunk)
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:][-self._half :]
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    def text(self) -> str:
        """UTF-8, what is not replaced; a line between the halves says how many bytes are left out."""
        tail = self._tail[-self._half :]
        left_out = self.total - len(self._head) - len(tail)
        if not left_out:
            return (self._head + tail).decode("utf-8", "replace")
        while tail and tail[0] & 0xC0 == 0x80:  # noqa: PLR2004 - the rest of a character cut in two, RFC 3629
            del tail[0]
            left_out += 1
        head = codecs.getincrementaldecoder("utf-8")("replace").decode(self._head)
        return f"{head}\n[… {left_out} bytes left out …]\n{tail.decode('utf-8', 'replace')}"


def head_and_tail(text: str, keep: int) -> str:
    """The first and the last half of `keep` bytes of a text, as `HeadTail` keeps them."""
    if len(text) <= keep // 4:  # no character has more than four bytes
        return text
    kept = HeadTail(keep)
    kept.add(text.encode("utf-8", "replace"))
    return kept.text()


class Log:
    """The output of a command on disk, up to `cap` bytes; a log that cannot be written is dropped, never an error."""

    def __init__(self, path: Path | None, cap: int) -> None:
        self._path = path
        self._room = cap
        self._cap = cap
        self._file: int | None = None
        self.truncated = False
        self.error = ""
        """Why there is no log although one was wanted; one line."""
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(path, _LOG_FLAGS, 0o600)
            except OSError as error:
                self._drop(error)

    @property
    def path(self) -> Path | None:
        """Where it is; None when none was wanted or it was dropped."""
        return None if self.error else self._path

    def add(self, chunk: bytes) -> None:
        """Write the next bytes, as far as the cap allows."""
        if self._file is None or self.truncated:
            return
        self._write(chunk[: self._room])
        self._room -= len(chunk)
        if self._room < 0:
            self.truncated = True
            self._write(f"\n[log cut after {self._cap} bytes; the command continued]\n".encode())

    def close(self) -> None:
        """Close the file; may be called twice."""
        if self._file is not None:
            file, self._file = self._file, None
            try:
                os.close(file)
            except OSError as error:  # a quota is reported here on some file systems
                self._drop(error)

    def _write(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        try:
            while rest and self._file is not None:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            self._drop(error)

    def _drop(self, error: OSError) -> None:
        """Give up and free the space: on a full disk the result of the command matters more."""
        self.error = f"log dropped: {error.strerror}"
        self.close()
        if self._path is not None and self._path.is_file():
            try:
                self._path.unlink()
            except OSError as again:
                self.error += f"; the part written could not be removed: {again.strerror}"
