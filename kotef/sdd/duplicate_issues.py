"""Recognition of a run that ended just like one in the log."""

from collections.abc import Iterable

from kotef.sdd.issue import MAX_SEEN, IssueEntry, Sighting


def task_of(entry: IssueEntry) -> tuple[str, ...]:
    """The task, for comparison: the ticket; without one the goal, whatever its white space; else the checks."""
    if entry.ticket is not None:
        return ("ticket", entry.ticket)
    goal = " ".join(entry.goal.split())
    return ("goal", goal) if goal else ("checks", *entry.checks)


def identity(entry: IssueEntry) -> tuple[str, ...] | None:
    """A key that is equal for two runs with the same problem; None if unknown.

    The same task, ended with the same outcome and reason, and with the same set of failures in the newest visit that
    is on record. Not those of all visits: what a model broke on the way differs from run to run, and what follow-up,
    kinds and command of the entry speak of is the newest. A run without a failure on record (no check was found, the
    endpoint was dead) is told by task, outcome and reason alone. None is the identity of an entry whose failures have
    no fingerprint: it was written by a version that kept none.
    """
    newest = max((failure.visit for failure in entry.entries), default=0)
    prints = {failure.fingerprint for failure in entry.entries if failure.visit == newest}
    if "" in prints:
        return None
    return (entry.outcome, entry.reason, *task_of(entry), "failed", *sorted(prints))


def repeated(entry: IssueEntry, known: Iterable[IssueEntry]) -> IssueEntry | None:
    """The entry this one repeats: the newest open one with its identity, else the newest resolved one."""
    mine = identity(entry)
    newest_first = [other for other in known if mine is not None and identity(other) == mine][::-1]
    return max(newest_first, key=lambda other: other.state == "open", default=None)


def seen_again(entry: IssueEntry, run_id: str, date: str) -> IssueEntry:
    """The entry with one line more (or a newer date on the line of this run), open. Doing it again changes nothing.

    A resolved entry is opened again rather than followed by a second one: it is the same failure, so what was noted
    about it, and when it was thought to be settled, stays in one place, and the line says that it had been resolved.
    """
    old = next((seen for seen in entry.seen_again if seen.run_id == run_id), None)
    if old is not None and old.date == date and entry.state == "open":
        return entry
    reopened = entry.state == "resolved" or (old is not None and old.reopened)
    seen = (*without(entry, run_id).seen_again, Sighting(run_id=run_id, date=date, reopened=reopened))
    facts = {
        "state": "open",
        "resolved_by": "",
        "resolved_at": "",
        "seen_again": seen[-MAX_SEEN:],
        "seen_before": entry.seen_before + len(seen[:-MAX_SEEN]),
    }
    return entry.model_copy(update=facts)


def without(entry: IssueEntry, run_id: str) -> IssueEntry:
    """The entry without the line of this run, which ended differently after all."""
    return entry.model_copy(update={"seen_again": tuple(seen for seen in entry.seen_again if seen.run_id != run_id)})


def resolved(entry: IssueEntry, by: str, date: str) -> IssueEntry:
    """The entry, settled by a run or by a person."""
    return entry.model_copy(update={"state": "resolved", "resolved_by": by, "resolved_at": date})


def opened(entry: IssueEntry) -> IssueEntry:
    """The entry, open again."""
    return entry.model_copy(update={"state": "open", "resolved_by": "", "resolved_at": ""})
