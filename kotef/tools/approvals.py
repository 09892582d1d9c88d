"""Commands that a person allowed."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from kotef.shell import Ruling

AskCommand = Callable[[int, str, str], Awaitable[Literal["once", "run", "no"]]]
"""Visit, command line, reason."""


@dataclass(slots=True)
class Permits:
    """Permits, in memory only: after a kill the question is asked again, and no command can grant itself a permit."""

    ask: AskCommand | None = None
    """None: no one is asked, and the policy decides."""
    _whole_run: set[str] = field(default_factory=set)
    _answered: dict[str, Literal["once", "no"]] = field(default_factory=dict)
    """The answer for the next call with this command line only."""

    async def settle(self, visit: int, command: str, ruling: Ruling) -> None:
        """Ask before the command starts, if a person may allow it and has not yet."""
        if self.ask is None or not ruling.may_be_asked or command in self._whole_run:
            return
        answer = await self.ask(visit, command, ruling.reason)
        if answer == "run":
            self._whole_run.add(command)
        else:
            self._answered[command] = answer

    def ruled(self, command: str, ruling: Ruling) -> Ruling:
        """The ruling, including the person's answer."""
        if not ruling.may_be_asked:
            return ruling
        answer = "once" if command in self._whole_run else self._answered.pop(command, None)
        match answer:
            case "once":
                return Ruling("allowed")
            case "no":
                return Ruling("refused", f"the person at the terminal refused ({ruling.reason}); do without it")
            case _:
                return ruling
