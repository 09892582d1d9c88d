"""The recorded inputs of a verdict, so that other rules can take it again."""

from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from kotef.checks.types import Check, CommandResult
from kotef.checks.verdict import judge, judge_baseline
from kotef.checks.verification import Verification
from kotef.errors import KotefError
from kotef.files import write_atomic
from kotef.redaction import encodable, redactor

LARGEST: Final = 50 * 1024 * 1024
"""Bytes of one file; a larger one is not kept."""


class Judging(BaseModel):
    """The results of all checks on one tree, and what else `judge` receives."""

    model_config = ConfigDict(frozen=True)

    visit: int
    tree: str
    results: tuple[tuple[Check, CommandResult], ...]
    named_text: str = ""
    """At the baseline: where tests and checks may be named."""
    changed: tuple[str, ...] = ()
    needs_proof: bool = False
    proved: tuple[str, ...] | None = None
    review_accepted: bool = False
    """Whether it was judged as if a review had accepted it."""
    put_back: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()

    def verdict(self, baseline: Verification | None) -> Verification:
        """What the rules of now say; at the baseline there is none to compare with."""
        if baseline is None:
            return judge_baseline(self.results, named_text=self.named_text, tree=self.tree)
        return judge(
            baseline,
            self.results,
            visit=self.visit,
            tree=self.tree,
            changed=self.changed,
            needs_proof=self.needs_proof,
            proved=self.proved,
            review_accepted=self.review_accepted,
            put_back=self.put_back,
            left=self.left,
            allow=self.allow,
        )

    def keep(self, run_dir: Path) -> None:
        """Write it to the directory of the run, for its owner alone; a disk that is full costs this and not the run."""
        content = encodable(redactor().whole(self)).model_dump_json().encode()
        if len(content) > LARGEST:
            return
        try:
            write_atomic(place_of(run_dir, self.visit), content, mode=0o600)
        except KotefError:
            return


def place_of(run_dir: Path, visit: int) -> Path:
    """Where it is kept."""
    return run_dir / f"judged-{visit}.json"
