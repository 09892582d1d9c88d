"""Questions to a person in the middle of a run, recorded in its events and stopping its clock."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from kotef.deps import Approval, Ask, Clock, Emit, Option, Permission
from kotef.nodes.approval import flat
from kotef.runs.signals import Signals

_PERMISSIONS: dict[Permission, str] = {"once": "yes, once", "run": "yes, for this run", "no": "no"}


@dataclass(frozen=True, slots=True)
class RunPrompts:
    """Wraps the prompts of the command line. A question ended by a kill or Ctrl-C is asked again."""

    emit: Emit
    clock: Clock
    signals: Signals

    def choices(self, ask: Ask | None) -> Ask | None:
        """The same question; the caller emits the events."""
        if ask is None:
            return None

        async def choose(question: str, options: Sequence[Option]) -> int | None:
            with self.signals.question():
                return await ask(question, options)

        return choose

    def approval(self, given: Approval | None) -> Approval | None:
        """The same approval, with events and a stopped clock."""
        if given is None:
            return None

        async def plan(visit: int, steps: Sequence[str]) -> tuple[str, ...] | None:
            question = f"approve the plan of attempt {visit}, edit it, or quit?"
            with self._question(visit, question):
                reply = await given.plan(visit, steps)
            if reply is None:
                answer = "quit"
            else:
                same = list(map(flat, reply)) == list(map(flat, steps))
                answer = "approve" if same else "approve, as edited"
            self.emit("answered", visit=visit, question=question, answer=answer)
            return reply

        async def command(visit: int, line: str, reason: str) -> Permission:
            question = f"may this command run: {line}"
            with self._question(visit, question):
                answer = await given.command(visit, line, reason)
            self.emit("answered", visit=visit, question=question, answer=_PERMISSIONS[answer])
            return answer

        return Approval(plan, command)

    @contextmanager
    def _question(self, visit: int, question: str) -> Iterator[None]:
        self.emit("asked", visit=visit, question=question)
        with self.clock.standing(), self.signals.question():
            yield
