"""The table of mechanical fixes, and which of them a failing check calls for."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from kotef.fixers import imports, missing_self, misspellings, misspelt_arguments, python2_names, syntax
from kotef.fixers.complaints import Complaint, complaints
from kotef.fixers.lint_fix_commands import commands
from kotef.fixers.source import syntax_error
from kotef.fixers.symbol_index import Project
from kotef.fixers.types import FailingCheck, Fix, Fixer, FixRule
from kotef.source import SourceEdit

__all__ = ["FIXERS", "FailingCheck", "Fix", "commands", "propose"]


def _row(name: str, errors: str, answer: FixRule, source: str) -> Fixer:
    return Fixer(name, frozenset(errors.split()), answer, source)


FIXERS: Final = (
    _row(
        "syntax",
        "SyntaxError IndentationError TabError",
        syntax.compiles_again,
        "the reference: lexical analysis; 2to3",
    ),
    _row("python2-module", "ModuleNotFoundError", python2_names.modules, "PEP 3108"),
    _row("python2-name", "NameError", python2_names.names, "What's New in Python 3.0: builtins"),
    _row("python2-attribute", "AttributeError", python2_names.attributes, "PEP 469, PEP 3114, PEP 3108"),
    _row("missing-self-parameter", "TypeError", missing_self.parameter_missing, "the tutorial: method objects"),
    _row("missing-self", "NameError", missing_self.name_unbound, "the reference: naming and binding, class scopes"),
    _row("missing-self-local", "UnboundLocalError", missing_self.local_unbound, "the reference: naming and binding"),
    _row("missing-import", "NameError", imports.name_missing, "known.HOMES, known.MODULES, the project itself"),
    _row("missing-submodule", "AttributeError", imports.submodule_missing, "the reference: submodules"),
    _row("moved-name", "ImportError", imports.moved, "the project itself"),
    _row("sibling-module", "ModuleNotFoundError", imports.sibling, "PEP 328"),
    _row("misspelt-name", "NameError", misspellings.names, "similarity.likeness; names in scope"),
    _row(
        "misspelt-attribute",
        "AttributeError",
        misspellings.attributes,
        "similarity.likeness; what the class or module has",
    ),
    _row("misspelt-import", "ImportError", misspellings.imported, "similarity.likeness; what the module binds"),
    _row("misspelt-module", "ModuleNotFoundError", misspellings.modules, "similarity.likeness; modules of the project"),
    _row("misspelt-key", "KeyError", misspelt_arguments.keys, "similarity.likeness; keys the code stores"),
    _row(
        "misspelt-keyword", "TypeError", misspelt_arguments.keywords, "similarity.likeness; parameters of the function"
    ),
)
"""In the order of trust: what has one meaning before what is merely close."""


def propose(
    root: Path,
    failures: Sequence[FailingCheck],
    *,
    read: Callable[[str], bytes | None],
    paths: Collection[str],
    may_edit: Callable[[str], bool],
    more: Sequence[Fixer] = (),
) -> Iterator[Fix]:
    """The fixes the failures call for, best first, without repetition; reads through `read` only, never raises on text.

    First one for each complaint of the outputs, then all of these at once, then what else might answer each. `paths`
    are the workspace-relative source files, tests included. No fix edits a test, whatever `may_edit` says.

    `more` are rows that are tried after those of the table.
    """
    project = Project(root, read=read, paths=paths, may_edit=may_edit)
    found = dict.fromkeys(one for failure in failures for one in complaints(failure.output, project.locate))
    answers = [_fixes(complaint, project, (*FIXERS, *more)) for complaint in found]
    firsts = [first for rest in answers if (first := next(rest, None))]
    seen = list[dict[str, bytes]]()
    for made in chain(firsts, _together(firsts, project), *answers):
        if made.fix.files not in seen:
            seen.append(made.fix.files)
            yield made.fix


class _Made(NamedTuple):
    """A fix and the edits it is made of."""

    fix: Fix
    edits: tuple[SourceEdit, ...]


def _fixes(complaint: Complaint, project: Project, rows: Sequence[Fixer]) -> Iterator[_Made]:
    """What the rows answer to one complaint, in their order."""
    for row in rows:
        if complaint.error in row.errors:
            for proposal in row.answer(complaint, project):
                files = _files(proposal.edits, project)
                if files:
                    yield _Made(Fix(row.name, files, proposal.rationale, complaint.evidence), proposal.edits)


def _together(firsts: Sequence[_Made], project: Project) -> Iterator[_Made]:
    """The first answers in one step, those left out that overlap with an earlier one."""
    taken, edits = list[_Made](), tuple[SourceEdit, ...]()
    for one in firsts:
        if _files((*edits, *one.edits), project):
            taken.append(one)
            edits = tuple(dict.fromkeys((*edits, *one.edits)))
    if len(taken) > 1:
        names = dict.fromkeys(one.fix.fixer for one in taken)
        reasons = dict.fromkeys(one.fix.rationale for one in taken)
        fix = Fix("+".join(names), _files(edits, project), "; ".join(reasons), taken[0].fix.evidence)
        yield _Made(fix, edits)


def _files(edits: Sequence[SourceEdit], project: Project) -> dict[str, bytes]:
    """The files with the edits made; empty when one may not be edited, would not compile, or edits overlap."""
    files = {}
    for path in dict.fromkeys(edit.path for edit in edits):
        source = project.editable(path)
        edited = source and source.merged(edit for edit in edits if edit.path == path)
        if not source or not edited or edited.text == source.text or syntax_error(edited.text) is not None:
            return {}
        files[path] = edited.content
    return files
