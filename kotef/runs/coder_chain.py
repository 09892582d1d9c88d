"""Coders of a run, made in the order that its chain names them."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from kotef.coders.base import Coder
from kotef.coders.chain import Chain, Link, parse_chain
from kotef.deps import Models
from kotef.runs.session import RunSession
from kotef.sandbox import Completed
from kotef.tools.external_tools import Outside


def build_chain(session: RunSession, models: Models, outside: Outside) -> Chain:
    """The coders of this run in the order asked for; `models.coder` is None when the chain needs no model."""
    context, tape = session.context, session.tape
    coders: list[Coder] = []
    for link in parse_chain(context.task.coder):
        match link.name:
            case "fixers":
                from kotef.fixers import FixersCoder

                coders.append(FixersCoder(context, **_seconds(link)))
            case "search":
                from kotef.repair import SearchCoder

                search = SearchCoder(context, session.executor.activity, **_seconds(link))
                coders.append(tape.coder(search))
            case _ if link.command:
                coders.append(tape.coder(_program(link, session)))
            case _:
                coders.append(_model(session, models, outside))
    return Chain(tuple(coders), context.emit)


def _seconds(link: Link) -> dict[str, float]:
    """The time that the chain gives a coder; without one its own default holds."""
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
