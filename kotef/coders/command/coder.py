"""The coder that runs an external agent."""

import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from kotef.classification import plain_lines
from kotef.coders.base import NO_TIME, Brief, CoderResult
from kotef.coders.change_attribution import Hands
from kotef.coders.claims import ClaimCheck
from kotef.coders.command.brief import NAME, brief_text
from kotef.coders.command.cost import ReportedCost, spent_by, told_by
from kotef.coders.command.line import AgentCommand
from kotef.coders.command.login import login_refusal
from kotef.coders.command.presets import IDLE
from kotef.coders.git_guard import GitKept
from kotef.deps import RunContext
from kotef.failures.quoting import plain
from kotef.files import list_within, read_within, remove_within, write_atomic, write_within
from kotef.redaction import redactor
from kotef.sandbox import Completed
from kotef.settings import Price
from kotef.state import Contradiction, Edits, StoppedBy, Usage
from kotef.tools.errors import ToolFault

LEAST: Final = 10.0
"""Seconds below which no agent is started."""
_WORDS: Final = 2_000
"""Characters of a program's last words."""
_SAID: Final = 300
"""Characters of them where they say why it failed."""
_REPORT: Final = re.compile(r"^[\s`*>-]*report_contradiction: *(?P<place>[^|\n]+)\|", re.MULTILINE)
"""The beginning of a report in the last words of a program."""
_REPORTED: Final = 4_000
"""Characters of it that are kept."""
_ENTRIES: Final = 20_000
_INDEX_CAP: Final = 1 << 30
_ACCOUNT_CAP: Final = 64 * 1024 * 1024
"""Bytes of a program's own account that are read."""


@dataclass(frozen=True, slots=True)
class Hand:
    """The grants of one program; see `runs.external_agents`."""

    start: Callable[[str, Mapping[str, str], float, float, Path], Awaitable[Completed]]
    """Runs a command line with these variables set: wall seconds, seconds of silence, the log."""
    scratch: Path
    """A folder it can write into, outside the workspace."""
    found: Callable[[str], bool]
    """Whether a program of this name is there to be started."""


@dataclass(slots=True)
class CommandCoder:
    """Writes the brief to a file, runs the program, and takes the tree it leaves behind; its words are only claims."""

    context: RunContext
    command: AgentCommand
    hand: Hand
    price: Price | None = None
    """The price of its tokens, if it reports no cost."""
    seconds: float | None = None
    """Wall seconds of one visit; None: the remaining time of the run."""
    uses_model: bool = field(default=True, init=False)
    """Its own: it follows a plan, and may answer otherwise when asked the same again."""
    _shortest: float | None = None
    """Seconds of the shortest visit of this process."""

    @property
    def name(self) -> str:
        """The name of its row in the table, or `command`."""
        return self.command.name

    def declines(self, brief: Brief) -> str:  # noqa: ARG002  the name is the protocol's
        """Declines if the program is missing, or if less time is left than it ever took."""
        if self.command.program and not self.hand.found(self.command.program):
            return f"{self.command.program} is not installed here: it is not on PATH"
        if self._left() < max(LEAST, self._shortest or 0):
            return f"{NO_TIME} for {self.name}"
        return ""

    async def work(self, brief: Brief) -> CoderResult:
        """Run the program once; however it ends, the verifier judges its edits."""
        visit = brief.plan.visit
        seconds = min(self._left(), self.seconds or self._left())
        before = self.context.snapshots.take()
        file = self.context.run_dir / NAME.format(visit=visit)
        text = brief_text(self.context.prompts, brief, started_before=file.exists() and before != brief.tree)
        content = redactor().text(text).encode("utf-8", "replace")
        write_atomic(file, content)
        given = self.hand.scratch / file.name  # the state of the run is not readable in a sandbox
        write_atomic(given, content)
        account = self.hand.scratch / f"kotef-account-{visit}-{time.monotonic_ns()}"
        self.context.emit("trying", visit=visit, coder=self.name, what=f"{self.command.program or 'a command'} at work")
        done, hands = await self._run(given, account, seconds, visit)
        report = told_by(self.name, done.stdout, _read(account))
        spent = spent_by(report, self.price)
        if spent.unpriced:
            why = (
                "reported no cost"
                if report and (report.tokens_in or report.tokens_out)
                else "did not report what it used"
            )
            self.context.emit("notice", text=f"the cost of this attempt is unknown: {self.name} {why}")
        stopped_by, why = self._ending(done, report, seconds)
        changed = self.context.snapshots.changed(before, self.context.snapshots.take())
        whole = "\n".join(plain_lines(report.words if report and report.words else done.stdout)).strip()
        words = redactor().text(whole[-_WORDS:])
        edits = Edits(visit=visit, coder=self.name, stopped_by=stopped_by, detail=why, summary=words)
        claim = self._claim(whole, brief) if stopped_by == "finished" else None
        if claim is not None:
            edits = edits.model_copy(update={"stopped_by": "contradiction", "contradiction": claim})
        elif not changed and (
            refusal := login_refusal(done.exit_code, report, self.command.preset, *_outputs(done, report))
        ):
            why = redactor().text(f"{self.name} cannot log in: {refusal}")
            edits = edits.model_copy(update={"stopped_by": "login_refused", "detail": why})
        elif not changed:
            edits = edits.model_copy(update={"detail": why or f"{self.name} changed nothing"})
        used = {f"{visit}/coder/{self.name}": spent.model_copy(update={"written": hands.written})}
        hints = (f"{self.name}: {why}",) if why else ()
        return CoderResult(edits, Usage(by_call=used), found=bool(changed) or claim is not None, hints=hints)

    def _claim(self, words: str, brief: Brief) -> Contradiction | None:
        """The contradiction that its last words report; None without one, or if code disproves it."""
        matches = list(_REPORT.finditer(words))[-1:]  # what is before it may quote the brief
        if not matches:
            return None
        place, why = matches[0]["place"].strip(" `"), words[matches[0].end() :].strip(" `*\n")[:_REPORTED]
        try:
            found = ClaimCheck(brief, self.context.snapshots).check(place)
        except ToolFault as fault:
            self.context.emit("notice", text=f"what {self.name} reports as impossible is not accepted: {fault.message}")
            return None
        hidden = redactor().text
        return Contradiction(place=hidden(place), why=hidden(why), found=hidden(found))

    async def _run(self, file: Path, account: Path, seconds: float, visit: int) -> tuple[Completed, Hands]:
        hands = Hands(self.context.snapshots, self.context.run_dir)
        kept = GitKept(
            self.context.root, self.context.run_dir, self.context.emit, self.context.snapshots.repositories().kept
        )
        log = self.context.run_dir / "logs" / f"visit-{visit}-{self.name}.log"
        line = self.command.filled(file, account)
        idle, variables = self._idle, self._variables()
        there = set(self._left_behind())
        with hands.watching():
            done = await kept.after_background(lambda: self.hand.start(line, variables, seconds, idle, log), log)
            for name in set(self._left_behind()) - there:
                with suppress(OSError):
                    remove_within(self.context.root, name)
        if done.exit_code == 0:
            self._shortest = min(done.seconds, self._shortest or done.seconds)
        return done, hands

    @property
    def _idle(self) -> float:
        """Seconds it may be silent."""
        return self.command.preset.idle if self.command.preset else IDLE

    def _left(self) -> float:
        """The time left for it after reserving time for judging."""
        return self.context.clock.left() - self.context.executor.reserve()

    def _variables(self) -> dict[str, str]:
        preset = self.command.preset
        if preset is None:
            return {}
        return {
            **preset.sets,
            **(self._index() if preset.own_index else {}),
        }

    def _index(self) -> dict[str, str]:
        """An index and a place for objects of its own, so that what it adds to git is not added to the user's."""
        git = self.context.root / ".git"
        if not git.is_dir():
            return {}
        index, objects = self.hand.scratch / "kotef-index", self.hand.scratch / "kotef-objects"
        objects.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):  # no object was added yet
            write_within(
                self.hand.scratch, index.name, read_within(self.context.root, ".git/index", largest=_INDEX_CAP)
            )
        return {
            "GIT_INDEX_FILE": str(index),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(git / "objects"),
        }

    def _left_behind(self) -> Iterator[str]:
        """Files that the agent leaves at the top of the workspace; no link is followed."""
        globs = self.command.preset.leaves if self.command.preset else ()
        for entry in list_within(self.context.root, most=_ENTRIES) if globs else ():
            if not entry.is_link and any(fnmatchcase(entry.name, glob) for glob in globs):
                yield entry.name

    def _ending(self, done: Completed, told: ReportedCost | None, seconds: float) -> tuple[StoppedBy, str]:
        """Why it ended and, unless it finished by itself, its last words."""
        if done.timed_out == "wall" and self.seconds is not None and seconds == self.seconds:
            return "program_timeout", f"{self.name} was stopped after {seconds:g} s, its time limit"
        if done.timed_out == "wall":
            return (
                "time",
                f"{self.name} was stopped after {seconds:.0f} s: the rest is reserved for judging (--max-time)",
            )
        if done.timed_out == "idle":
            return "program_timeout", f"{self.name} was stopped: no output for {self._idle:g} s"
        if done.exit_code == 0:
            return "finished", ""
        told_words = told.words if told else ""
        words = _last_words(told_words or done.stderr or done.stdout)
        how = f"exited with {done.exit_code}" if (done.exit_code or 0) > 0 else f"was killed ({done.exit_code})"
        return "program_failed", redactor().text(f"{self.name} {how}: {words}" if words else f"{self.name} {how}")


def _outputs(done: Completed, told: ReportedCost | None) -> tuple[str, ...]:
    """Where it may say why it failed, the best place last."""
    return (done.stdout, done.stderr, told.words if told else "")


def _last_words(output: str) -> str:
    """The last lines that say something, on one line."""
    lines = [plain(line, _SAID).strip() for line in plain_lines(output)[-20:]]
    return " ".join(line for line in lines if line)[-_SAID:]


def _read(account: Path) -> str:
    """The account that the program wrote; empty if it wrote nothing, or a link."""
    try:
        return read_within(account.parent, account.name, largest=_ACCOUNT_CAP).decode("utf-8", "replace")
    except OSError:
        return ""
