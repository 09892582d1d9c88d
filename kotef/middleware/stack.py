"""The stack of guards of the inner loop: their order, and the reason for it."""

from typing import Any

from langchain.agents.middleware import AgentMiddleware

from kotef.middleware.activity import ToolActivity
from kotef.middleware.answer_recorder import Heard
from kotef.middleware.argument_check import ArgumentCheck
from kotef.middleware.compaction import Compaction
from kotef.middleware.contradiction_report import ReportedContradiction
from kotef.middleware.defect_guard import DefectGuard
from kotef.middleware.defect_log import DefectLog
from kotef.middleware.empty_answers import EmptyAnswers
from kotef.middleware.ephemeral_notes import Tail
from kotef.middleware.extension_guards import ExtensionGuards
from kotef.middleware.failure_reminder import RecentFailures
from kotef.middleware.files import FileLedger
from kotef.middleware.idempotency import EffectsOnce
from kotef.middleware.limits import Bounds, VisitBudget
from kotef.middleware.loop_guard import RepeatGuard
from kotef.middleware.malformed_calls import Malformed
from kotef.middleware.mistakes import MistakeGuard
from kotef.middleware.nested_instructions import NestedInstructions
from kotef.middleware.prefix import PrefixWatch
from kotef.middleware.progress_guard import ProgressGuard
from kotef.middleware.secrets import HiddenSecrets
from kotef.middleware.sequential_tools import InTurn
from kotef.middleware.tool_errors import Faults
from kotef.middleware.visit_context import VisitContext
from kotef.models.context_window import ContextWindow
from kotef.tools.guard import FileGuard


def stack(
    visit: VisitContext, budget: VisitBudget, recent: RecentFailures, window: ContextWindow, guard: FileGuard
) -> list[AgentMiddleware[Any, Any, Any]]:
    """Outermost first."""
    mistakes, repeats, bounds = MistakeGuard(visit), RepeatGuard(visit), Bounds(budget, visit)
    stall, empty, defects = ProgressGuard(visit), EmptyAnswers(visit), DefectLog(visit)
    return [
        DefectGuard(defects),  # outermost: whatever fails below is a defect of ours
        ArgumentCheck(visit.context.kit.more),  # outside of whatever reads arguments
        ReportedContradiction(),  # before the guards: after an accepted report there is nothing to ask or to guard
        mistakes,  # before the bounds: a visit that is stopped for what it did is asked for no summary
        repeats,  # after the mistakes: what fails in turn is a row of mistakes before it is a cycle
        stall,  # after the repeats: who repeats itself is told that
        empty,  # before the bounds: to ask again is a call to be allowed; a closing summary that is empty is none
        bounds,  # nothing below may cost a call that is not allowed
        Tail(
            recent.note, mistakes.note, repeats.note, stall.note, empty.note, bounds.note
        ),  # the most pressing is read last
        InTurn(visit),  # outside of whatever looks at files or tells of a call: a call begins when it is its turn
        ToolActivity(
            visit.context.emit, visit.number
        ),  # outside of whatever answers a call, so that every answer is seen
        Malformed(visit.tools, visit.context.emit),  # before the ledger: a call that cannot be read is not an effect
        Compaction(visit, budget, recent, window),  # inside the tail, which is part of what must fit
        PrefixWatch(visit, "coder"),  # innermost of those that change a request: it sees what is sent
        NestedInstructions(visit),  # outside the ledger: what it keeps of an effect is the effect's own answer
        ExtensionGuards(visit.context.kit.rules),  # outside the ledger: a refused call has no effect
        EffectsOnce(visit),  # outside the error handler: a failure is a result to replay, too
        FileLedger(visit, guard),  # inside the ledger of effects: a replayed edit finds its file changed, rightly
        *([Heard(visit.hear)] if visit.hear else []),  # outside what hides secrets: a record holds none
        HiddenSecrets(),  # outside what words a failure, inside all that keeps or reads a result
        Faults(defects),  # innermost: a tool's exception would end the whole run
    ]
