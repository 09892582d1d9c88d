"""The coder that asks a model and gives it tools."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from kotef.checks.types import CommandResult
from kotef.coders.base import Brief, CoderResult
from kotef.coders.change_attribution import Hands
from kotef.coders.claims import ClaimCheck
from kotef.coders.first_message import Past, first_message, system_prompt
from kotef.coders.git_guard import GitKept
from kotef.context.seen_files import Known
from kotef.deps import RunContext
from kotef.files import granted
from kotef.middleware.answer_recorder import Hear
from kotef.middleware.contradiction_report import report_in
from kotef.middleware.effect_log import Effects, digest
from kotef.middleware.failure_reminder import RecentFailures
from kotef.middleware.files import ledger_of
from kotef.middleware.idle_visit import idle_reason
from kotef.middleware.limits import COMMAND, FAULT, STOP, SUMMARY, VisitBudget
from kotef.middleware.messages import Conversation
from kotef.middleware.stack import stack
from kotef.middleware.visit_context import VisitContext
from kotef.models.context_window import ContextWindow
from kotef.models.usage import spent_on
from kotef.redaction import redactor
from kotef.sandbox import Completed
from kotef.sdd.agents import Role
from kotef.settings import PROFILES, Limits, Price, Profile
from kotef.shell import decide_command as rule
from kotef.state import Contradiction, Edits, Spent, StoppedBy, Task, Usage
from kotef.tools.background import Background
from kotef.tools.command_outcome import ToolAnswer
from kotef.tools.external_tools import Outside
from kotef.tools.git import RunStart
from kotef.tools.registry import build_tools, cannot_edit, offered
from kotef.tools.role_tools import unfit
from kotef.tools.stash import Stash
from kotef.tools.tool import ToolContext, ToolSpec
from kotef.tools.toolset import Kit


@dataclass(frozen=True, slots=True)
class ModelCoder:
    """A tool loop on a chat model; every visit starts a fresh conversation."""

    context: RunContext
    model: BaseChatModel
    window: ContextWindow
    price: Price | None = None
    name: str = "model"
    outside: Outside = field(default_factory=Outside)
    hear: Hear | None = None
    """Records or replays what its tools receive from outside."""

    @property
    def role(self) -> Role:
        """The role of the run's coder."""
        return self.context.task.roles.coder

    @property
    def kit(self) -> Kit:
        """The tools that the run is given."""
        return self.context.kit

    @property
    def uses_model(self) -> bool:
        """False if it always declines; then planning is not worth a call either."""
        return not unfit(self.kit, self.role)

    def declines(self, brief: Brief) -> str:  # noqa: ARG002  the name is the protocol's
        """Declines only if it has no tool that edits."""
        return unfit(self.kit, self.role)

    def _rows(self, more: Sequence[ToolSpec]) -> list[ToolSpec]:
        return offered(self.kit.tier, (*self.outside.features, *self.kit.features), only=self.role.tools, more=more)

    def _is_effect(self, row: ToolSpec) -> bool:
        """Whether a call of an extension's tool may change something."""
        return row in self.kit.more and row.kind != "reader"

    async def work(self, brief: Brief) -> CoderResult:
        """Run one conversation, from the brief to the model's last words or a limit."""
        visit = brief.plan.visit
        hands = Hands(self.context.snapshots, self.context.run_dir)
        recent = RecentFailures(self.context.run_dir, visit)
        rows = self._rows((*self.kit.more, *await self.outside.rows()))
        kept = GitKept(
            self.context.root, self.context.run_dir, self.context.emit, self.context.snapshots.repositories().kept
        )

        async def run_on(command: str, log: Path, timeout: float | None) -> Completed:
            return await kept.after_background(lambda: self.context.executor.run_on(command, log, timeout), log)

        background = Background(run_on, self.context.run_dir / "logs", visit, watching=hands.alongside)
        agent = self._agent(brief, hands, recent, rows, background, kept=kept)
        past = Past(brief.failures, brief.visits, brief.changed, brief.files, brief.hints)
        request = HumanMessage(
            redactor().text(first_message(self.context.prompts, self.kit, brief.task, brief.plan, past))
        )
        # create_agent brings a recursion limit of its own, far above what the step ceiling allows
        config: Any = {"recursion_limit": 4 * brief.task.limits.max_steps + 10}
        async with background:
            state = await agent.ainvoke({"messages": [request]}, config=config)
        hands.look()
        messages: list[AnyMessage] = state["messages"]
        recent.keep(messages)
        stopped_by, detail, summary = _ending(messages)
        contradiction = self._contradiction(messages, brief) if stopped_by == "contradiction" else None
        edits = Edits(
            visit=visit,
            coder=self.name,
            stopped_by=stopped_by,
            fault=messages[-1].additional_kwargs.get(FAULT),
            contradiction=contradiction,
            summary=contradiction.why if contradiction else summary,
            detail=detail,
            idle=idle_reason(messages),
            files=ledger_of(messages),
            foreign=tuple(sorted(hands.foreign)),
        )
        answers = [message for message in messages if isinstance(message, AIMessage)]
        calls = {f"{visit}/coder/{number}": spent_on(answer, self.price) for number, answer in enumerate(answers)}
        commands = Spent(commands=sum(message.name == COMMAND for message in messages), written=hands.written)
        return CoderResult(edits, Usage(by_call={**calls, f"{visit}/coder/commands": commands}))

    def _contradiction(self, messages: Sequence[AnyMessage], brief: Brief) -> Contradiction | None:
        """The contradiction that the coder reported, with what code could confirm."""
        report = report_in(messages)
        if report is None:
            return None
        place, why, other = (str(report.get(name, "")) for name in ("place", "why", "other"))
        found = ClaimCheck(brief, self.context.snapshots).check(place, other)
        hidden = redactor().text
        return Contradiction(place=hidden(place), why=hidden(why), other=hidden(other), found=hidden(found))

    def _agent(
        self,
        brief: Brief,
        hands: Hands,
        recent: RecentFailures,
        rows: Sequence[ToolSpec],
        background: Background,
        *,
        kept: GitKept,
    ) -> Any:
        task = brief.task
        profile = _profile_of(task)

        async def run(command: str, timeout: float | None) -> CommandResult:
            with hands.watching():
                return await kept.after(lambda: self.context.executor.run_command(command, timeout))

        async def run_checks(names: list[str] | None) -> ToolAnswer:
            with hands.watching():
                return await kept.after_checks(
                    lambda: self.context.executor.run_checks(names, stash.keep if stash else None)
                )

        known = Known()

        def wrote(path: str) -> None:
            hands.wrote(path)
            known.learn({path: digest(self.context.root / path)})

        stash = (
            Stash(self.context.run_dir / "stash") if any(row.name == "view_truncated_output" for row in rows) else None
        )
        context = ToolContext(
            root=self.context.root,
            guard=brief.guard,
            run=run,
            run_checks=run_checks,
            wrote=wrote,
            edited=lambda path, diff, steps: self.context.emit(
                "edited", visit=brief.plan.visit, path=path, diff=diff, steps=tuple(steps)
            ),
            stash=stash,
            rule=lambda command: self.context.permits.ruled(command, rule(command, profile, root=self.context.root)),
            background=background,
            start=RunStart(self.context.snapshots, brief.visits[0].tree if 0 in brief.visits else brief.tree),
            memory=self.kit.memory,
            skills=self.kit.skills,
            claim=ClaimCheck(brief, self.context.snapshots).check,
            reads=granted(task.reads),
            web=self.outside.web,
            watching=hands.watching,
        )

        role = task.roles.coder
        limits = role.bound(task.limits, edits=not cannot_edit(rows))
        budget = VisitBudget(
            limits,
            brief.spent,
            self.price,
            self.context.clock,
            self.context.executor.reserve(),
            written=lambda: hands.written,
        )
        visit = self._visit(brief, limits, rows, profile, hands, stash=stash, known=known)
        return create_agent(
            self.model,
            build_tools(context, rows),
            system_prompt=system_prompt(self.context.prompts, role),
            middleware=stack(visit, budget, recent, self.window, brief.guard),
            state_schema=Conversation,
            name="coder",
        )

    def _visit(
        self,
        brief: Brief,
        limits: Limits,
        rows: Sequence[ToolSpec],
        profile: Profile,
        hands: Hands,
        *,
        stash: Stash | None,
        known: Known,
    ) -> VisitContext:
        """The shared context of one visit's middleware."""

        async def permit(command: str) -> None:
            await self.context.permits.settle(brief.plan.visit, command, rule(command, profile, root=self.context.root))

        return VisitContext(
            context=self.context,
            number=brief.plan.visit,
            limits=limits,
            effects=Effects(self.context.run_dir / "effects.jsonl"),
            tools=tuple(row.name for row in rows),
            stash=stash,
            known=known,
            effectful=frozenset(row.name for row in rows if row.needs == "mcp" or self._is_effect(row)),
            hear=self.hear,
            permit=permit,
            changes=hands.changes,
            planned=tuple(path for step in brief.plan.steps for path in step.files),
        )


def _profile_of(task: Task) -> Profile:
    """The profile of a task, with installs where the task allows them."""
    profile = PROFILES[task.profile]
    return profile.model_copy(update={"installs": "allowed"}) if task.allow_install else profile


def _ending(messages: Sequence[AnyMessage]) -> tuple[StoppedBy, str, str]:
    """Why the visit ended, one line of detail, and the model's last words."""
    last = messages[-1]
    words = [
        message.text.strip()
        for message in messages
        if isinstance(message, AIMessage) and (SUMMARY in (marks := message.additional_kwargs) or STOP not in marks)
    ]
    summary = next((text for text in reversed(words) if text), "")[:2000]
    by, detail = last.additional_kwargs.get(STOP, ("finished", ""))
    return by, detail, summary
