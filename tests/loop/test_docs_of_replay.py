"""Does every command of docs/replay-and-stats.md do what the page says, as it stands there?"""

import re
import shlex
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from support.loop import CHECK, DONE, FIX, Agent

from kotef.cli.main import main

PAGE = Path(__file__).parents[2] / "docs" / "replay-and-stats.md"


def test_every_command_of_the_page_works(project: Path, run: Any, tmp_path: Path, monkeypatch: Any) -> None:
    done = run(project, Agent([FIX, DONE]), "make add right", "--check", CHECK)
    blocks = re.findall(r"```bash\n(.*?)```", PAGE.read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) >= 10
    monkeypatch.chdir(project)
    for line in lines:
        command = line.replace("20260131-101500-3fa2", done.run_dir.name).replace("/tmp/again", str(tmp_path / "again"))
        program, *arguments = shlex.split(command, comments=True)
        assert program == "kotef"
        ended = CliRunner().invoke(main, arguments)
        assert ended.exit_code == 0, (line, ended.output)
        assert ended.stdout.strip()
