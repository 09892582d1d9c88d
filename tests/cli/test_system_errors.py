"""An error of the operating system about a file is one line that names it, whichever command meets it."""

import errno
import json
import os

import click
import pytest
from click.testing import CliRunner

from kotef.cli.main import Main


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC, errno.ELOOP, errno.EIO, errno.EISDIR])
def test_the_file_and_the_reason_are_named(number: int) -> None:
    @click.group(cls=Main)
    def program() -> None: ...

    @program.command()
    @click.option("--json", is_flag=True)
    def read(json: bool) -> None:
        raise OSError(number, os.strerror(number), "folder/file")

    plain, as_json = CliRunner().invoke(program, ["read"]), CliRunner().invoke(program, ["read", "--json"])

    assert (plain.exit_code, as_json.exit_code) == (5, 5)
    assert plain.stderr.startswith("kotef: error: folder/file: ")
    assert plain.stderr.count("\n") == 1
    assert json.loads(as_json.stdout)["exitCode"] == 5


def test_an_error_of_no_file_is_a_defect_and_shows_itself() -> None:
    @click.group(cls=Main)
    def program() -> None: ...

    @program.command()
    def read() -> None:
        raise OSError(errno.EINVAL, "invalid")

    ended = CliRunner().invoke(program, ["read"])

    assert isinstance(ended.exception, OSError)
