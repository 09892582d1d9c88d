"""The findings of `kotef spec lint` in this workspace."""

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from kotef.checks.detect import collect_checks
from kotef.checks.missing_program import missing_program
from kotef.importers import list_foreign
from kotef.redaction import redactor
from kotef.sdd.files import read_file
from kotef.sdd.lint import LintFinding, in_order, lint_between, lint_foreign, lint_ticket
from kotef.sdd.spec import read_spec
from kotef.sdd.tickets import list_tickets


class Linted(NamedTuple):
    """The linted tickets and the findings."""

    tickets: int
    """Open tickets, including open specs of other tools."""
    findings: tuple[LintFinding, ...]


def lint_workspace(root: Path, *, only: Collection[str] = ()) -> Linted:
    """Every gap of the open tickets and specs, by place; with `only`, of these files alone (paths from the root).

    Raises `SpecError` if the configuration of the checks cannot be read. Nothing is run.
    """
    gates = read_spec(root).checks
    folder = list_tickets(root)

    def commands(named: tuple[str, ...]) -> list[str]:
        return [check.command for check in collect_checks(root, options=(), ticket=named, architect=gates)]

    def missing(command: str) -> str:
        return missing_program(root, command)

    texts = {ticket.path: read_file(root, ticket.path).text for ticket in folder.open}
    found: list[LintFinding] = []
    for ticket in folder.open:
        found += lint_ticket(ticket, texts[ticket.path], commands(ticket.tests), missing)
    found += lint_between(folder, texts)
    specs = [spec for spec in list_foreign(root) if spec.is_open]
    for spec in specs:
        read = {path: read_file(root, path).text for path in spec.files}
        found += lint_foreign(spec, read, commands(spec.checks), missing)
    wanted = [each for each in found if not only or each.path in only]
    return Linted(len(folder.open) + len(specs), tuple(redactor().whole(each) for each in in_order(wanted)))
