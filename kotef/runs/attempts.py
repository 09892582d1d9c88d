"""The attempts of a run: what each tried, and its result."""

from pathlib import Path
from typing import Any, Final

from kotef.runs.events import read_events
from kotef.runs.result import ResultAttempt
from kotef.state import CUT_SHORT

MAX_ITEMS: Final = 20
"""Steps, files or tests kept of one attempt."""

MAX_TEXT: Final = 300
"""Characters kept of each text of an attempt."""

MAX_SAID: Final = 400
"""Characters kept of the coder's last words."""


def attempts_of(events: Path) -> tuple[ResultAttempt, ...]:
    """The visits on record, in order; of one that a kill made start twice, what was recorded last."""
    found: dict[int, dict[str, Any]] = {}
    for line in read_events(events):
        visit = line.get("visit")
        if not isinstance(visit, int) or visit < 1:
            continue
        match line["event"]:
            case "planned":
                plan = {"hypothesis": _clip(line["hypothesis"]), "steps": _items(line["steps"])}
                found[visit] = {"visit": visit, **plan}
            case "coder_finished":
                edits = {"changed": _items(line["changed"]), "stopped_by": line["stopped_by"]}
                words = {"said": _clip(line["summary"], MAX_SAID)}
                words["why_stopped"] = _clip(line["detail"]) if line["stopped_by"] in CUT_SHORT else ""
                found.setdefault(visit, {"visit": visit}).update(edits | words)
            case "verified":
                verdict = {"passed": line["passed"], "verdict": _clip(line["summary"])}
                units = {"fixed": _items(line["fixed"]), "broken": _items(line["broken"])}
                found.setdefault(visit, {"visit": visit}).update(verdict | units)
            case "reviewed" if not line["accepted"]:
                refusal = {"passed": False, "verdict": _clip(f"review refused: {line['reason']}")}
                found.setdefault(visit, {"visit": visit}).update(refusal)
            case _:
                pass
    return tuple(ResultAttempt(**facts) for _, facts in sorted(found.items()))


def _items(texts: list[str]) -> tuple[str, ...]:
    return tuple(_clip(text) for text in texts[:MAX_ITEMS])


def _clip(text: str, most: int = MAX_TEXT) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
