"""The file of an exported run: a zip archive with a manifest of the size and digest of each file."""

import hashlib
import json
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kotef.errors import UsageError
from kotef.files import OPEN_FILE, os_fault

FORMAT: Final = 1
"""Version of the archive's format; the state in it has its own schema version."""
MANIFEST: Final = "manifest.json"
SNAPSHOTS: Final = "snapshots.bundle"
"""A git bundle with the trees and contents that the run names."""
RUN: Final = "run/"
"""Prefix of the run's own files."""

MOST_BYTES: Final = 2 * 1024**3
"""Unpacked size of all files."""
_MOST_FILES: Final = 20_000
_MOST_MANIFEST: Final = 8 * 1024 * 1024
_CHUNK: Final = 1024 * 1024
_FILE: Final = re.compile(r"run/((logs|stash)/)?[A-Za-z0-9][A-Za-z0-9._-]{0,127}|snapshots\.bundle")
_RUN_ID: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_TREE: Final = r"[0-9a-f]{40}"


class Packed(BaseModel):
    """One file of the archive."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)


class Manifest(BaseModel):
    """The contents of an archive. The manifest's digest is the fingerprint of the whole run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int
    kotef_version: str = Field(max_length=64)
    run_id: str = Field(pattern=f"^{_RUN_ID}$")
    exported: str = Field(max_length=32)
    """Time of the export: UTC, ISO 8601."""
    head: str = Field(pattern=f"^({_TREE})?$")
    """The commit that was checked out; empty if there was none."""
    stands: str = Field(pattern=f"^{_TREE}$")
    """The tree of the workspace at the export, from which the run continues."""
    files: dict[str, Packed] = Field(max_length=_MOST_FILES)
    """Name in the archive → size and digest."""


class Archive:
    """An exported run whose manifest was checked; `unpack` checks each file."""

    def __init__(self, path: Path, opened: zipfile.ZipFile, manifest: Manifest, fingerprint: str) -> None:
        self.path = path
        self.manifest = manifest
        self.fingerprint = fingerprint
        """`sha256:` and 64 hexadecimal digits."""
        self._opened = opened

    def unpack(self, name: str, target: Path) -> None:
        """Write one file of the archive to `target`, a new file. UsageError if it differs from the manifest."""
        wanted = self.manifest.files[name]
        digest, size = hashlib.sha256(), 0
        with self._opened.open(name) as source, target.open("xb") as file:
            while chunk := source.read(_CHUNK):
                size += len(chunk)
                if size > wanted.bytes:
                    break
                digest.update(chunk)
                file.write(chunk)
        if size != wanted.bytes or digest.hexdigest() != wanted.sha256:
            _refuse(self.path, f"{name} in it differs from what was exported")


def fingerprint_of(manifest: bytes) -> str:
    """The fingerprint of a manifest, and so of every file, since the manifest contains their digests."""
    return f"sha256:{hashlib.sha256(manifest).hexdigest()}"


def write_archive(path: Path, files: Mapping[str, Path], **facts: str) -> tuple[Manifest, str]:
    """Pack `files` (name in the archive → file) with a manifest of `facts`; returns the manifest and its fingerprint.

    The archive has mode 0600, since the state in it is private.

    Raises `OSError`.
    """
    packed = {name: _packed(file) for name, file in sorted(files.items())}
    manifest = Manifest.model_validate({"format": FORMAT, "files": packed, **facts})
    text = manifest.model_dump_json(indent=1).encode()
    fingerprint = fingerprint_of(text)
    private = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(private, "wb") as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:  # noqa: PTH123
        archive.comment = fingerprint.encode()
        archive.writestr(MANIFEST, text)
        for name, file in sorted(files.items()):
            archive.write(file, name)
    return manifest, fingerprint


def _packed(file: Path) -> Packed:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
    return Packed(sha256=digest.hexdigest(), bytes=file.stat().st_size)


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """The archive, open during the block. UsageError if it is damaged, altered or not an exported run."""
    try:
        with _regular(path) as file, zipfile.ZipFile(file) as opened:
            yield _checked(path, opened)
    except OSError as error:
        raise UsageError(f"{path}: {os_fault(path, error).args[0].partition(': ')[2]}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        _refuse(path, str(error) or type(error).__name__)


def _regular(path: Path) -> BinaryIO:
    """The file, opened without blocking; UsageError for a pipe or a device, which may never end."""
    file = os.open(path, OPEN_FILE & ~os.O_NOFOLLOW)
    opened = open(file, "rb")  # noqa: PTH123, SIM115 - a descriptor, and the caller closes it
    if not stat.S_ISREG(os.fstat(file).st_mode):
        opened.close()
        _refuse(path, "it is not a regular file")
    return opened


def _checked(path: Path, opened: zipfile.ZipFile) -> Archive:
    entries = opened.infolist()
    names = [entry.filename for entry in entries]
    manifest_entry = next((entry for entry in entries if entry.filename == MANIFEST), None)
    if manifest_entry is None or manifest_entry.file_size > _MOST_MANIFEST:
        _refuse(path, "it has no manifest")
    text = opened.read(manifest_entry)
    try:
        manifest = Manifest.model_validate(json.loads(text))
    except (ValidationError, ValueError, RecursionError):
        _refuse(path, "its manifest cannot be read")
    if manifest.format != FORMAT:
        hint = f"resume it with kotef {manifest.kotef_version}, which wrote it"
        raise UsageError(f"{path}: its format is {manifest.format}, but this kotef reads {FORMAT}", hint=hint)
    if opened.comment != fingerprint_of(text).encode():
        _refuse(path, "its manifest was changed")
    if sorted(names) != sorted([MANIFEST, *manifest.files]):
        _refuse(path, "its files differ from those in its manifest")
    if any(not _FILE.fullmatch(name) for name in manifest.files):
        _refuse(path, "its manifest names files that no run contains")
    if sum(file.bytes for file in manifest.files.values()) > MOST_BYTES:
        _refuse(path, f"it unpacks to more than {MOST_BYTES // 1024**3} GiB")
    return Archive(path, opened, manifest, fingerprint_of(text))


def _refuse(path: Path, why: str) -> NoReturn:
    hint = "nothing was changed; export the run again with `kotef runs export`"
    raise UsageError(f"{path}: not an exported run, or damaged: {why}", hint=hint)
