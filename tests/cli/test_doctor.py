"""`kotef doctor` exits with 0 where a run would work, and calls optional what a run does without."""

from pathlib import Path

import pytest
from support.loop import Ran, kotef, one_bug

DEAD = "http://127.0.0.1:9/v1"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "KOTEF_MODEL", "KOTEF_CODER"):
        monkeypatch.delenv(name, raising=False)
    return one_bug(tmp_path / "project")


def finding(ran: Ran, word: str) -> str:
    return next(line for line in ran.stdout.splitlines() if word in line)


def test_a_missing_model_is_optional(project: Path) -> None:
    ran = kotef(project, "doctor")
    assert ran.code == 0
    assert finding(ran, "model: ").startswith(
        "note    model: optional; none is configured, and fixers,search work without"
    )


def test_a_coder_that_needs_a_model_does_not_work_without_one(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOTEF_CODER", "fixers,model")
    ran = kotef(project, "doctor")
    assert ran.code == 5
    assert finding(ran, "no model").startswith("missing no model: set OPENAI_API_KEY")


@pytest.mark.parametrize(("chain", "status"), [("fixers,search", 0), ("fixers,model", 5)])
def test_a_dead_endpoint_matters_only_to_a_coder_that_asks_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, chain: str, status: int
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", DEAD)
    monkeypatch.setenv("KOTEF_CODER", chain)
    assert kotef(project, "doctor").code == status
