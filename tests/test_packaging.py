"""What a user installs: quick to start, and with everything it needs inside."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = {"langgraph", "langchain", "langchain_core", "openai", "pydantic", "rich", "httpx", "jinja2"}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["run", "--help"], ["resume", "--help"], ["spec", "--help"], ["--version"]]
)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = f"""
import sys
from kotef.cli.main import main
try:
    main({arguments!r}, prog_name="kotef")
except SystemExit:
    pass
print(sorted(set(sys.modules) & {HEAVY!r}), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Names of the files in a wheel built from this checkout, without going to any index."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(place), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return zipfile.ZipFile(next(place.glob("*.whl"))).namelist()


def test_the_wheel_holds_every_prompt(wheel: list[str]) -> None:
    prompts = {f"kotef/prompts/{path.name}" for path in (ROOT / "prompts").glob("*.md")}
    assert len(prompts) >= 5
    assert prompts <= set(wheel)


def test_the_wheel_holds_the_examples_with_their_tickets(wheel: list[str]) -> None:
    tickets = [name for name in wheel if name.startswith("kotef/examples/") and "/tickets/open/" in name]
    assert len(tickets) >= 2


def test_the_wheel_holds_templates_and_types_and_no_tests(wheel: list[str]) -> None:
    report = {f"kotef/report/{name}" for name in ("report.md", "page.html", "page.css", "page.js")}
    assert {*report, "kotef/py.typed"} <= set(wheel)
    assert not [name for name in wheel if name.startswith("tests/") or "__pycache__" in name or "/runs/2" in name]
