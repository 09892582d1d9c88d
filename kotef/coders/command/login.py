"""A login that an agent's endpoint refused, or that the agent lacks, recognised in what it prints."""

import re
from typing import Final

from kotef.classification import plain_lines
from kotef.coders.command.cost import ReportedCost
from kotef.coders.command.presets import Preset
from kotef.failures.quoting import plain

_LAST: Final = 20
"""Lines at the end of an output in which the reason of a failure stands."""
_LONGEST: Final = 300
"""Characters of the line that is quoted."""
_REFUSED: Final = re.compile(
    r"""
    \b(?:401|403)\b .{0,80}? (?:unauthori[sz]ed | forbidden | api.?key | authent | credential | token | log.?in)
    | (?:unauthori[sz]ed | forbidden | authent\w*) .{0,40}? \b(?:401|403)\b
    | \bAPI\ Error:\ (?:401|403)\b
    | \b(?:AuthenticationError|PermissionDeniedError)\b
    | \b(?:no|missing|invalid|incorrect|expired|wrong) \ (?:api.?key | auth(?:entication|orization)?\b | credentials?\b)
    | \bauthentication \ (?:failed|required|error)
    | \bnot \ (?:logged|signed|authenticated) \b
    | \b(?:please|must|need\ to) \ (?:run\ `?\S*\ ?`?)?(?:log|sign) .?in\b
    | \bset \ an \ auth \ method\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What agents and the libraries of their endpoints print where a login fails: the HTTP status 401 or 403 with its usual
words, or those words alone. It is a list, because agents share no exit status or field for it, and it may miss one."""


def login_refusal(exit_code: int | None, told: ReportedCost | None, preset: Preset | None, *outputs: str) -> str:
    """The line in which an agent says that it cannot log in; empty if it does not, or if a model answered it.

    The words alone prove nothing, because a task can be about logins. So either the exit status says that the agent
    failed, or its account, where it always gives one, has no token: some agents exit with 0.
    """
    if not _is_unanswered(exit_code, told, preset):
        return ""
    lines = [line for output in outputs for line in plain_lines(output)[-_LAST:]]
    for line in reversed(lines):
        if found := _REFUSED.search(line):
            return plain(line[max(0, found.start() - _LONGEST // 3) :], _LONGEST).strip()
    return ""


def _is_unanswered(exit_code: int | None, told: ReportedCost | None, preset: Preset | None) -> bool:
    """Whether the agent failed, or always gives an account, and names no token."""
    if told is not None and (told.tokens_in or told.tokens_out):
        return False
    accounts = preset is not None and preset.tells != "nothing"
    return accounts or exit_code not in (0, None)
