"""How does a model edit the workspace?"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from kotef.checks.model import CommandResult
from kotef.coders.base import Brief, Work
from kotef.coders.hands import Hands
from kotef.context.prompts import Prompts
from kotef.deps import Clock, Emit
from kotef.failures.memory import tell
from kotef.failures.visits import recount
from kotef.middleware.bounds import STOP, Budget
from kotef.middleware.setting import Setting
from kotef.middleware.stack import stack
from kotef.models.usage import spent_on
from kotef.settings import PROFILES, Price
from kotef.state import Edits, Spent, StoppedBy, Usage
from kotef.tools.policy import decide as rule
from kotef.tools.registry import build_tools, offered
from kotef.tools.row import ToolContext
from kotef.workspace.effects import Effects
from kotef.workspace.snapshots import Snapshots


@dataclass(frozen=True, slots=True)
class ModelCoder:
    """A tool loop on a chat model; every visit starts a fresh conversation."""

    model: BaseChatModel
    root: Path
    run_dir: Path
    snapshots: Snapshots
    prompts: Prompts
    run: Callable[[str, float | None], Awaitable[CommandResult]]
    """Runs one command of the coder, with a timeout in seconds or the default."""
    run_checks: Callable[[Sequence[str] | None], Awaitable[str]]
    """Runs the named checks, or all, and renders the results."""
    emit: Emit
    clock: Clock
    reserve: Callable[[], float]
    """Seconds to keep back for the verifier."""
    price: Price | None = None
    name: str = "model"
    uses_model: bool = field(default=True, init=False)

    def declines(self, brief: Brief) -> str:  # noqa: ARG002  a model can always try
        """Never: a model can always try."""
        return ""

    async def work(self, brief: Brief) -> Work:
        """One conversation, from the brief to the model's last words or to a limit."""
        visit = brief.plan.visit
        hands = Hands(self.snapshots)
        agent = self._agent(brief, hands)
        request = HumanMessage(self._brief(brief))
        # create_agent brings a recursion limit of its own, far above what the step ceiling allows
        config: Any = {"recursion_limit": 4 * brief.task.limits.max_steps + 10}
        state = await agent.ainvoke({"messages": [request]}, config=config)
        hands.look()
        messages: list[AnyMessage] = state["messages"]
        stopped_by, detail, summary = _ending(messages)
        edits = Edits(
            visit=visit,
            coder=self.name,
            stopped_by=stopped_by,
            summary=summary,
            detail=detail,
            foreign=tuple(sorted(hands.foreign)),
        )
        answers = [message for message in messages if isinstance(message, AIMessage)]
        calls = {f"{visit}/coder/{number}": spent_on(answer, self.price) for number, answer in enumerate(answers)}
        commands = Spent(commands=sum(message.name == "run_command" for message in messages))
        return Work(edits, Usage(by_call={**calls, f"{visit}/coder/commands": commands}))

    def _agent(self, brief: Brief, hands: Hands) -> Any:
        task = brief.task
        profile = PROFILES[task.profile]

        async def run(command: str, timeout: float | None) -> CommandResult:
            with hands.watching():
                return await self.run(command, timeout)

        async def run_checks(names: list[str] | None) -> str:
            with hands.watching():
                return await self.run_checks(names)

        context = ToolContext(
            root=self.root,
            guard=brief.guard,
            run=run,
            run_checks=run_checks,
            wrote=hands.wrote,
            rule=lambda command: rule(command, profile, root=self.root),
        )
        budget = Budget(task.limits, brief.spent, self.price, self.clock, self.reserve())
        rows = offered()
        setting = Setting(
            visit=brief.plan.visit,
            root=self.root,
            run_dir=self.run_dir,
            limits=task.limits,
            emit=self.emit,
            prompts=self.prompts,
            effects=Effects(self.run_dir / "effects.jsonl"),
            tools=tuple(row.name for row in rows),
        )
        return create_agent(
            self.model,
            build_tools(context, rows),
            system_prompt=self.prompts.render("coder"),
            middleware=stack(setting, budget),
            name="coder",
        )

    def _brief(self, brief: Brief) -> str:
        task = brief.task
        return self.prompts.render(
            "brief",
            goal=task.goal,
            ticket=task.ticket,
            spec=task.spec,
            checks=task.checks,
            plan=brief.plan,
            failures=brief.failures,
            memory=tell(task.memory, {entry.fingerprint for entry in brief.failures}),
            attempts=recount(brief.visits),
            changed=brief.changed,
            hints=brief.hints,
            visit=brief.plan.visit,
            max_attempts=task.limits.max_attempts,
        )


def _ending(messages: Sequence[AnyMessage]) -> tuple[StoppedBy, str, str]:
    """Why the visit ended, one line of detail, and the model's last words."""
    last = messages[-1]
    words = [
        message.text.strip()
        for message in messages
        if isinstance(message, AIMessage) and STOP not in message.additional_kwargs
    ]
    summary = next((text for text in reversed(words) if text), "")[:2000]
    by, detail = last.additional_kwargs.get(STOP, ("finished", ""))
    return by, detail, summary
