"""The corpus of recorded outputs that lie in public repositories, read through its manifest.

A line of the manifest names a repository, a commit and a path, which part of the file is the output of which command,
and the kind that it should be taken for (benchmarks/failures/README.md says more). The texts are not part of this
project: they are read from checkouts or bare repositories in a folder, each named `owner+name`.
"""

import gzip
import json
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def records_of(manifest: Path, folder: Path) -> Iterator[Row]:
    """The rows of the manifest with their texts, as records of a collection; FileNotFoundError names a gap."""
    for number, line in enumerate(filter(None, manifest.read_text("utf-8").split("\n")), 1):
        row: Row = json.loads(line)
        name = f"{number}-{row['tool'].replace(' ', '-')}"
        stdout, stderr = streams_of(row, folder)
        yield row | {
            "id": name,
            "stdout": stdout,
            "stderr": stderr,
            "facts": [],
            "group": name,
            "family": name,
        }


def streams_of(row: Row, folder: Path) -> tuple[str, str]:
    """What the command wrote: the whole file, the lines that `stdout` and `stderr` name, or a value in a JSON file."""
    text = file_text(folder / row["repository"].replace("/", "+"), row["commit"], row["path"])
    if "json" in row:
        value: Any = json.loads(text)
        for key in row["json"]:
            value = value[key]
        return str(value), ""
    if "stdout" not in row and "stderr" not in row:
        return _plain(text, row), ""
    lines = text.split("\n")
    parts = [row.get(stream) for stream in ("stdout", "stderr")]
    stdout, stderr = (_plain("\n".join(lines[part[0] - 1 : part[1]]) + "\n", row) if part else "" for part in parts)
    return stdout, stderr


def _plain(text: str, row: Row) -> str:
    """The part without the indentation, quotes and placeholders of the file in which it is kept."""
    if row.get("dedent"):
        text = re.sub(rf"(?m)^[ \t]{{1,{row['dedent']}}}", "", text)
    for pattern, put in row.get("replace", ()):
        text = re.sub(pattern, put, text, flags=re.MULTILINE)
    return text


@cache
def file_text(repository: Path, commit: str, path: str) -> str:
    """The text of a file at a commit of a checkout, of a bare repository, or of one in its folder `repo`."""
    places = [place for place in (repository / "repo", repository) if place.is_dir()]
    if not places:
        msg = f"{repository} is not there: clone https://github.com/{repository.name.replace('+', '/')}"
        raise FileNotFoundError(msg)
    command = ["git", "-C", str(places[0]), "cat-file", "blob", f"{commit}:{path}"]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        msg = f"{repository.name} has no {path} at {commit}: {done.stderr.decode('utf-8', 'replace').strip()}"
        raise FileNotFoundError(msg)
    content = gzip.decompress(done.stdout) if path.endswith(".gz") else done.stdout
    return content.decode("utf-8", "replace")
