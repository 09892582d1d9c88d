"""Set-up of telemetry where the environment asks for it: OpenTelemetry, LangSmith."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from kotef.deps import Models
from kotef.models.factory import OPENAI_URL
from kotef.redaction import redactor
from kotef.runs.events import Watcher
from kotef.runs.run_config import RunConfig
from kotef.telemetry import exporter, langsmith

if TYPE_CHECKING:
    from kotef.deps import Emit
    from kotef.telemetry.spans import Spans

Complain = Callable[[str], None]
"""Called with one line about unsent traces, once the run is over."""


@contextmanager
def observed(setting: RunConfig, complain: Complain) -> Iterator[RunConfig]:
    """The setting with the watchers that the environment asks for; at the end what they hold is sent, within seconds.

    A collector that does not answer changes neither the run nor its exit status.
    """
    with _traced(setting, complain) as watched, told_to_langsmith(complain):
        yield watched


@contextmanager
def told_to_langsmith(complain: Complain) -> Iterator[None]:
    """Inside, where the environment asks for LangSmith, no secret is sent to it; at the end what it holds is sent."""
    if not langsmith.traced_by():
        yield
        return
    log = _Heard()
    logging.getLogger("langsmith").addHandler(log)
    logging.getLogger("langsmith").propagate = False
    langsmith.hide_secrets()
    try:
        yield
    finally:
        late = langsmith.send_rest()
        logging.getLogger("langsmith").removeHandler(log)
        if late or log.heard:
            complain(f"LangSmith did not accept all traces: {late or 'it refused them, or cannot be reached'}")


@contextmanager
def _traced(setting: RunConfig, complain: Complain) -> Iterator[RunConfig]:
    wish, way = _way()
    if way is None:
        yield replace(setting, notices=(*setting.notices, wish.refused)) if wish.refused else setting
        return
    from kotef.telemetry.spans import Spans

    tracer = way.provider.get_tracer("kotef")
    spans = Spans(tracer, setting.task, content=wish.content, parent=exporter.parent_of())
    notice = f"traces with prompts, code and outputs are sent to {wish.endpoint}"
    notices = (*setting.notices, notice) if wish.content else setting.notices
    watchers: tuple[Watcher, ...] = (*setting.watchers, spans)
    try:
        yield replace(setting, notices=notices, watchers=watchers, models=_called(setting, spans))
    finally:
        spans.close()
        if why := way.close():
            complain(f"not all traces reached {wish.endpoint}: {why}")


def _way() -> tuple[exporter.Wish, exporter.Collector | None]:
    """The trace settings and their exporter; None if there are none. Traces never make a run fail."""
    wish = exporter.wish()
    try:
        return wish, exporter.Collector() if wish.endpoint else None
    except Exception as error:  # noqa: BLE001  what the library raises for a variable it cannot use, or in its import
        why = redactor().text(str(error).partition("\n")[0])
        return exporter.Wish(refused=f"no traces are sent, because a variable OTEL_* cannot be used: {why}"), None


def _called(setting: RunConfig, spans: "Spans") -> "Callable[[Emit], Models]":
    """The models of the run, each of whose calls is a span."""

    def make(emit: "Emit") -> Models:
        from kotef.telemetry.llm_spans import Calls

        models = setting.models(emit)
        for model in (models.coder, models.planner, models.reviewer):
            if model is not None:
                name, url = getattr(model, "model_name", ""), getattr(model, "openai_api_base", None)
                model.callbacks = [Calls(spans, name or "model", url or OPENAI_URL)]
        return models

    return make


class _Heard(logging.Handler):
    """Whether a library complained; its words may hold anything, and are not shown."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard = False

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002
        """A complaint."""
        self.heard = True
