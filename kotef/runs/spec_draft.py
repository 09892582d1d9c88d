"""A specification drafted by a model, and the validation of what it wrote."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel, Field

from kotef.checks.detect import collect_checks
from kotef.checks.missing_program import missing_program
from kotef.context.prompts import Prompts
from kotef.errors import ModelError
from kotef.redaction import redactor
from kotef.sdd.done_evidence import could_be_proved
from kotef.sdd.draft_writer import SpecDraft, TicketDraft, command_only, words_only
from kotef.sdd.files import read_file
from kotef.sdd.spec import Spec, read_spec
from kotef.sdd.ticket import Ticket
from kotef.sdd.tickets import list_tickets
from kotef.settings import Price
from kotef.state import Spent

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage

AnswerT = TypeVar("AnswerT", bound=BaseModel)

MAX_QUESTIONS: Final = 5
"""Most questions in an interview."""

MAX_TICKETS: Final = 12
MAX_CHECKS: Final = 5
"""Most checks of one ticket."""

MAX_CORRECTIONS: Final = 1
"""How often a draft is sent back with its problems."""


class QuestionsAnswer(BaseModel):
    """Questions for the person."""

    questions: list[str] = Field(default_factory=list, description="at most five, one sentence each")


class TicketAnswer(BaseModel):
    """One ticket."""

    title: str = Field(description="a few words, imperative")
    objective: str = Field(default="", description="two to five sentences: what should be different, and why")
    done: list[str] = Field(default_factory=list, description="definition of done: lines that code can prove")
    checks: list[str] = Field(default_factory=list, description="command lines that judge it")
    steps: list[str] = Field(default_factory=list)
    affected: list[str] = Field(default_factory=list, description="workspace-relative paths expected to change")
    risks: list[str] = Field(default_factory=list)
    non_goals: list[str] = Field(default_factory=list)
    needs: list[int] = Field(default_factory=list, description="numbers of tickets of this list, 1 the first")


class DraftAnswer(BaseModel):
    """The whole specification."""

    purpose: str = Field(default="", description="what the project is for, who uses it, what it must never do")
    project_done: list[str] = Field(default_factory=list, description="definition of done of the project")
    stop_rules: list[str] = Field(default_factory=list, description="when the agent must stop and ask")
    risks: list[str] = Field(default_factory=list)
    architecture: str = Field(default="", description="how the parts fit together, in a few sentences")
    parts: list[str] = Field(default_factory=list, description="one per part: its place and what it answers for")
    practices: list[str] = Field(default_factory=list, description="how code is written here")
    tickets: list[TicketAnswer] = Field(default_factory=list)


class InterviewAnswer(NamedTuple):
    """A question of the interview and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Drafted:
    """The result of a draft."""

    draft: SpecDraft
    gates: tuple[str, ...]
    """The project's own checks, as code found them."""
    spent: Spent
    notices: tuple[str, ...] = ()
    """Notices about changes that code made to the model's draft."""


@dataclass(slots=True)
class Drafter:
    """Asks a model a limited number of times, and counts the cost."""

    root: Path
    model: "BaseChatModel"
    prompts: Prompts
    price: Price | None = None
    spent: Spent = field(default_factory=Spent)
    started: float = field(default_factory=time.monotonic)
    _memory: Any = None

    async def draft(
        self, goal: str, ask: Callable[[Sequence[str]], Awaitable[Sequence[InterviewAnswer]]] | None
    ) -> Drafted:
        """Interview the person through `ask`, if there is one, then draft, and again what code cannot take.

        Raises `ModelError` when the endpoint fails, or never says anything readable.
        """
        facts = _facts(self.root, goal)
        answers: Sequence[InterviewAnswer] = ()
        if ask is not None:
            text = self.prompts.render("spec_questions", **facts.of_questions(), most=MAX_QUESTIONS)
            interview = await self._ask(text, QuestionsAnswer)
            questions = (
                [line for question in interview.questions if (line := words_only(question))] if interview else []
            )
            answers = await self._answers(ask, questions[:MAX_QUESTIONS])
        problems: list[str] = []
        best: DraftAnswer | None = None
        for _ in range(1 + MAX_CORRECTIONS):
            material = {"answers": answers, "problems": problems, "most": MAX_TICKETS}
            answer = await self._ask(self.prompts.render("spec_draft", **facts.of_draft(), **material), DraftAnswer)
            if answer is None or not answer.tickets:
                problems = ["it contained no ticket"]
                continue
            best = answer
            problems = _problems(answer, self.root, facts.checks)
            if not problems:
                break
        if best is None:
            raise ModelError("nonsense", "it gave no readable draft", hint="try another model, or a shorter goal")
        draft, notices = _repaired(best, self.root, facts.checks)
        seconds = round(time.monotonic() - self.started, 3)
        return Drafted(draft, facts.checks, self.spent.model_copy(update={"seconds": seconds}), tuple(notices))

    async def _answers(
        self, ask: Callable[[Sequence[str]], Awaitable[Sequence[InterviewAnswer]]], questions: Sequence[str]
    ) -> Sequence[InterviewAnswer]:
        """The person's answers; the clock stops meanwhile."""
        began = time.monotonic()
        answers = await ask(questions)
        self.started += time.monotonic() - began
        return answers

    async def _ask(self, text: str, schema: type[AnswerT]) -> AnswerT | None:
        """One question: the ladder of `structured.ask`, at most five calls."""
        from langchain_core.messages import HumanMessage

        from kotef.models.structured_output import RungMemory, ask

        self._memory = self._memory or RungMemory()
        try:
            answer = await ask(self.model, [HumanMessage(redactor().text(text))], schema, memory=self._memory)
        except ModelError as error:
            self._book(error.paid)
            raise
        self._book(answer.messages)
        return answer.value

    def _book(self, messages: "Sequence[AIMessage]") -> None:
        from kotef.models.usage import spent_on

        for message in messages:
            self.spent = self.spent.plus(spent_on(message, self.price))


@dataclass(frozen=True, slots=True)
class _RepositoryFacts:
    """Facts about the repository for the model."""

    goal: str
    overview: str
    readme: str
    instructions: str
    spec: Spec
    checks: tuple[str, ...]
    tickets: tuple[Ticket, ...]

    def of_questions(self) -> dict[str, Any]:
        return {"goal": self.goal, "overview": self.overview, "readme": self.readme}

    def of_draft(self) -> dict[str, Any]:
        more = {"instructions": self.instructions, "checks": self.checks, "tickets": self.tickets}
        return {**self.of_questions(), **more, "project": self.spec.project, "architect": self.spec.architect}


def _facts(root: Path, goal: str) -> _RepositoryFacts:
    from kotef.tools.overview import overview

    spec = read_spec(root)
    checks = collect_checks(root, options=(), ticket=(), architect=spec.checks)
    readme = next((file.text for name in ("README.md", "README.rst") if (file := read_file(root, name)).text), "")
    return _RepositoryFacts(
        goal=goal,
        overview=overview(root),
        readme=readme,
        instructions=read_file(root, "AGENTS.md").text,
        spec=spec,
        checks=tuple(check.command for check in checks),
        tickets=list_tickets(root).open,
    )


def _problems(answer: DraftAnswer, root: Path, known: Sequence[str]) -> list[str]:
    """Problems of a draft, one line each, as the model sees them."""
    found = []
    if len(answer.tickets) > MAX_TICKETS:
        found.append(f"{len(answer.tickets)} tickets are too many; {MAX_TICKETS} at most")
    for number, ticket in enumerate(answer.tickets[:MAX_TICKETS], 1):
        checks = _commands(ticket)
        if not words_only(ticket.title):
            found.append(f"ticket {number} has no title")
        if not checks:
            found.append(f"ticket {number} has no check")
        found += [
            f"ticket {number}: the check `{command}` starts {program}, which is not installed here"
            for command in checks
            if (program := missing_program(root, command))
        ]
        if not any(words_only(line) for line in ticket.done):
            found.append(f"ticket {number} has no Definition of Done")
        lines = [words for line in ticket.done if (words := words_only(line))]
        found += [
            f"ticket {number}: no check can prove the line '{line}'"
            for line in lines
            if not could_be_proved(line, [*checks, *known])
        ]
        wrong = [need for need in ticket.needs if not 0 < need < number]
        found += [f"ticket {number} needs {need}, which is not a ticket before it" for need in wrong]
    return found


def _repaired(answer: DraftAnswer, root: Path, known: Sequence[str]) -> tuple[SpecDraft, list[str]]:
    """The draft with its problems replaced by something honest, and notices about the changes.

    Lines that no check can prove stay: they are a person's to tick, and `kotef spec lint` names them.
    """
    notices: list[str] = []
    tickets = []
    for number, ticket in enumerate(answer.tickets[:MAX_TICKETS], 1):
        given = _commands(ticket)
        gone = [command for command in given if missing_program(root, command)]
        checks = [command for command in given if command not in gone] or list(known)
        if gone:
            some = ", ".join(f"`{command}`" for command in gone)
            notices.append(f"ticket {number}: left out {some}, whose program is not installed")
        if not checks:
            checks = ["false  # write here the command that shows whether this is done"]
            notices.append(f"ticket {number}: has no check that could run; write one before you start it")
        elif not [command for command in given if command in checks]:
            notices.append(f"ticket {number}: judged by the project's own checks, because it has none of its own")
        done = [line for line in ticket.done if words_only(line)] or [f"`{checks[0]}` exits 0"]
        needs = sorted({need - 1 for need in ticket.needs if 0 < need < number})
        tickets.append(
            TicketDraft(
                title=ticket.title,
                objective=ticket.objective,
                done=tuple(done),
                checks=tuple(checks[:MAX_CHECKS]),
                steps=tuple(ticket.steps),
                affected=tuple(ticket.affected),
                risks=tuple(ticket.risks),
                non_goals=tuple(ticket.non_goals),
                needs=tuple(needs),
            )
        )
    if left := len(answer.tickets) - len(tickets):
        notices.append(f"{left} more tickets were left out; draft the rest when these are done")
    draft = SpecDraft(
        purpose=answer.purpose,
        project_done=tuple(answer.project_done),
        stop_rules=tuple(answer.stop_rules),
        risks=tuple(answer.risks),
        architecture=answer.architecture,
        parts=tuple(answer.parts),
        practices=tuple(answer.practices),
        tickets=tuple(tickets),
    )
    return draft, notices


def _commands(ticket: TicketAnswer) -> list[str]:
    return list(dict.fromkeys(command for check in ticket.checks if (command := command_only(check))))
