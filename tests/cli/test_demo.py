"""The demo shows both endings for real."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from kotef.cli.main import main


def test_the_demo_shows_both_endings_without_key_or_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "kept"
    done = CliRunner().invoke(main, ["demo", "--keep", str(kept)])
    assert done.exit_code == 0, done.output
    assert "No key, no model, no script" in done.output
    assert "verified (by search)" in done.output
    assert "return total // 10" in (kept / "discount" / "shop" / "cart.py").read_text()
    assert (kept / "discount" / ".sdd" / "backlog" / "tickets" / "closed" / "01-discount.md").exists()
    assert "stuck: no coder could do anything" in done.output
    assert "inspect `tests/test_format.py::" in (kept / "contradiction" / ".sdd" / "issues.md").read_text()


def test_the_demo_never_writes_into_a_directory_with_something_in_it(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x\n")
    done = CliRunner().invoke(main, ["demo", "--keep", str(tmp_path)])
    assert done.exit_code == 2
    assert "not empty" in done.output
