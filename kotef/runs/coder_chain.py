"""Coders of a run, made in the order that its chain names them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kotef.coders.base import Brief, Coder, CoderResult
from kotef.coders.chain import KNOWN, Chain, Link, parse_chain
from kotef.deps import Models
from kotef.runs.session import RunSession
from kotef.sandbox import Completed
from kotef.state import Edits
from kotef.tools.external_tools import Outside


def build_chain(session: RunSession, models: Models, outside: Outside) -> Chain:
    """The coders of this run in the requested order; `models.coder` is None if the chain needs no model."""
    context, tape = session.context, session.tape
    coders: list[Coder] = []
    for link in parse_chain(context.task.coder, extensions=None):
        match link.name:
            case "fixers":
                coders.append(_fixers(link, session))
            case "search":
                from kotef.repair import SearchCoder

                search = SearchCoder(context, session.executor.activity, **_seconds(link))
                coders.append(tape.coder(search))
            case _ if link.command:
                coders.append(tape.coder(_program(link, session)))
            case name if name not in KNOWN:
                coders.append(tape.coder(_extension(link, session)))
            case _:
                coders.append(_model(session, models, outside))
    return Chain(tuple(coders), context.emit)


def _fixers(link: Link, session: RunSession) -> Coder:
    from kotef.fixers import FixersCoder

    context, extensions = session.context, session.config.extensions
    if not extensions.of_kind("fixer"):
        return FixersCoder(context, **_seconds(link))
    from kotef.extensions import fixer_rows

    def tell(text: str) -> None:
        context.emit("notice", text=text)

    return FixersCoder(context, **_seconds(link), more=fixer_rows(extensions, tell))


def _extension(link: Link, session: RunSession) -> Coder:
    """The coder of an extension; in a replay where it is not active, one by its name."""
    for loaded in session.config.extensions.of_kind("coder"):
        if loaded.record.name == link.name:
            from kotef.extensions import ExtensionCoder

            return ExtensionCoder(session.context, loaded, **_seconds(link))
    return AbsentCoder(link.name)


@dataclass(frozen=True, slots=True)
class AbsentCoder:
    """The name of a coder whose extension is not active."""

    name: str
    uses_model: bool = False

    def declines(self, brief: Brief) -> str:  # noqa: ARG002  the name is the protocol's
        """Always."""
        return f"no extension {self.name} is active"

    async def work(self, brief: Brief) -> CoderResult:
        """Nothing: it has declined."""
        edits = Edits(visit=brief.plan.visit, coder=self.name, stopped_by="finished", detail=self.declines(brief))
        return CoderResult(edits, found=False)


def _seconds(link: Link) -> dict[str, Any]:
    """The time that the chain gives a coder; else the coder's default."""
    return {"seconds": link.seconds} if link.seconds else {}


def _model(session: RunSession, models: Models, outside: Outside) -> Coder:
    from kotef.coders.model import ModelCoder
    from kotef.models.context_window import ContextWindow

    assert models.coder is not None, "the command line has looked for an endpoint"  # noqa: S101
    context, tape = session.context, session.tape
    known = context.task.limits.context_window or context.kit.window
    return ModelCoder(
        context,
        models.coder,
        ContextWindow(models.coder, tape.window(known), told=tape.read_at_once),
        price=models.coder_price,
        name=models.coder_name,
        outside=outside,
        hear=tape.tool,
    )


def _program(link: Link, session: RunSession) -> Coder:
    from kotef.coders.command.coder import CommandCoder, Hand

    grant = session.config.hired.given[link.name]

    async def start(command: str, variables: Mapping[str, str], seconds: float, idle: float, log: Path) -> Completed:
        run = partial(session.executor.run_program, command, grant, variables)
        return await run(seconds=seconds, idle=idle, log=log)

    hand = Hand(start, grant.scratch(session.context.run_dir), grant.is_there)
    return CommandCoder(session.context, grant.command, hand, price=grant.price, seconds=link.seconds)
