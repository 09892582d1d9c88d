"""Rows of the table of fixes for the fixers of extensions."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from kotef.extensions.extension_set import ExtensionSet, LoadedExtension
from kotef.extensions.loader import failed, unusable
from kotef.fixers import Complaint, Fixer, FixProposal, Project
from kotef.source import SourceEdit

MOST: Final = 20
"""Proposals for one complaint that are looked at."""


def fixer_rows(extensions: ExtensionSet, tell: Callable[[str], None]) -> tuple[Fixer, ...]:
    """A row for each fixer; `tell` hears of one that fails, which proposes nothing from then on."""
    return tuple(_row(each, tell) for each in extensions.of_kind("fixer"))


def _row(loaded: LoadedExtension, tell: Callable[[str], None]) -> Fixer:
    rule = _FixSource(loaded, tell)
    return Fixer(loaded.record.name, frozenset(loaded.target.errors), rule, loaded.record.origin)


class _FixSource:
    """The proposals of one extension, as long as it does not fail."""

    def __init__(self, loaded: LoadedExtension, tell: Callable[[str], None]) -> None:
        self.loaded, self.tell = loaded, tell
        self.works = True

    def __call__(self, complaint: Complaint, project: Project) -> Iterator[FixProposal]:
        """What it proposes; of anything that is no proposal nothing."""
        if not self.works:
            return
        try:
            for proposal in islice(self.loaded.target.propose(complaint, project) or (), MOST):
                if not _is_proposal(proposal):
                    self._stop(str(unusable(self.loaded.extension, "proposed something other than a FixProposal")))
                    return
                yield proposal
        except (Exception, SystemExit) as error:  # noqa: BLE001  a failure of the extension ends its proposals
            self._stop(str(failed(self.loaded.extension, "failed", error)))

    def _stop(self, why: str) -> None:
        self.works = False
        self.tell(f"{why}; it proposes nothing more in this run")


def _is_proposal(proposal: object) -> bool:
    if not isinstance(proposal, FixProposal) or not isinstance(proposal.rationale, str):
        return False
    return all(isinstance(edit, SourceEdit) and _is_whole(edit) for edit in proposal.edits)


def _is_whole(edit: SourceEdit) -> bool:
    texts = isinstance(edit.path, str) and isinstance(edit.text, str)
    return texts and isinstance(edit.start, int) and isinstance(edit.end, int) and 0 <= edit.start <= edit.end
