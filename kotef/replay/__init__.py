"""The record of what a run hears from outside: kept, played again, judged again."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.replay.comparison import Replayed, replay
    from kotef.replay.record_types import RECORD_NAME
    from kotef.replay.recorder import Recorder
    from kotef.replay.rejudgement import JudgedOutcome, Rejudged, Rejudgement, rejudge
    from kotef.replay.tape import CommandKey, Tape
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "comparison": "Replayed replay",
            "record_types": "RECORD_NAME",
            "recorder": "Recorder",
            "rejudgement": "JudgedOutcome Rejudged Rejudgement rejudge",
            "tape": "CommandKey Tape",
        },
    )

__all__ = [
    "RECORD_NAME",
    "CommandKey",
    "JudgedOutcome",
    "Recorder",
    "Rejudged",
    "Rejudgement",
    "Replayed",
    "Tape",
    "rejudge",
    "replay",
]
