"""`kotef init` writes what kotef reads back, and nothing over what is there."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.errors import SpecError, WorkspaceError
from kotef.sdd.skeleton import TEMPLATE, write_skeleton
from kotef.sdd.spec import read_spec
from kotef.sdd.tickets import list_tickets

FILES = (
    ".sdd/project.md",
    ".sdd/architect.md",
    ".sdd/best_practices.md",
    ".sdd/.gitignore",
    ".sdd/backlog/tickets/template.md",
)
CHECKS = ("ruff check .", "cd web && npm test", "python -m pytest -q -k 'a or b'")


@pytest.mark.parametrize("checks", [CHECKS, ()])
def test_a_skeleton_reads_back_without_a_problem(tmp_path: Path, checks: tuple[str, ...]) -> None:
    result = write_skeleton(tmp_path, checks, language="Python")

    assert (result.written, result.kept) == (FILES, ())
    spec = read_spec(tmp_path)
    assert (spec.checks, spec.problems) == (checks, ())
    assert spec.stop_rules
    assert spec.project_done
    assert spec.risks
    assert spec.best_practices
    assert "written in Python." in spec.project
    assert (tmp_path / ".sdd/.gitignore").read_text() == "runs/\n"


@example_count(25)
@given(st.lists(st.from_regex(r"[a-z]{2,8}( [a-z./'\"-]{1,12}){0,4}", fullmatch=True), unique=True, max_size=5))
def test_any_plain_check_reads_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, checks: list[str]) -> None:
    root = tmp_path_factory.mktemp("root")
    plain = [check for check in checks if not check.startswith(("cd ", "export ", "source "))]

    write_skeleton(root, plain)

    assert read_spec(root).checks == tuple(plain)


def test_a_file_that_exists_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / ".sdd").mkdir()
    (tmp_path / ".sdd/project.md").write_text("mine")
    (tmp_path / ".sdd/best_practices.md").symlink_to("nowhere")

    first = write_skeleton(tmp_path, CHECKS)
    again = write_skeleton(tmp_path, ("other",))

    assert first.kept == (".sdd/project.md", ".sdd/best_practices.md")
    assert (again.written, again.kept) == ((), FILES)
    assert (tmp_path / ".sdd/project.md").read_text() == "mine"
    assert read_spec(tmp_path).checks == CHECKS


def test_a_new_skeleton_has_no_ticket_that_a_run_could_be_offered(tmp_path: Path) -> None:
    write_skeleton(tmp_path, CHECKS)
    folder = list_tickets(tmp_path)
    assert (folder.open, folder.closed, folder.problems) == ((), (), ())


@pytest.mark.parametrize("checks", [CHECKS, ()])
def test_a_copy_of_the_template_is_a_ticket(tmp_path: Path, checks: tuple[str, ...]) -> None:
    write_skeleton(tmp_path, checks)
    place = tmp_path / ".sdd/backlog/tickets/open/01-cart.md"
    place.parent.mkdir()
    place.write_text((tmp_path / TEMPLATE).read_text())

    folder = list_tickets(tmp_path)
    (ticket,) = folder.open
    assert (ticket.id, ticket.title, ticket.problems, folder.problems) == ("01", "What this ticket is about", (), ())
    assert ticket.tests == (checks or ("false",))


def test_a_skeleton_stays_inside_the_workspace(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / ".sdd").symlink_to(outside)
    with pytest.raises(WorkspaceError, match="leads out of the workspace"):
        write_skeleton(root, CHECKS)
    assert list(outside.iterdir()) == []

    (root / ".sdd").unlink()
    (root / ".sdd").write_text("x")
    with pytest.raises(SpecError):
        write_skeleton(root, CHECKS)
