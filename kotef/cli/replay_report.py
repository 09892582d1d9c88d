"""Output of a replayed or rejudged run."""

from rich.console import Console

from kotef.cli.screen import one_line
from kotef.failures.plural import counted
from kotef.replay import JudgedOutcome, Rejudged, Rejudgement, Replayed

SHOWN = 5
"""Lines of one kind."""


def show_replay(found: Replayed, screen: Console) -> None:
    """Print whether the replay ended as the run did, and where it differs."""
    for text in found.notices:
        screen.print(f"note: {text}", style="yellow")
    first, *others = found.divergences or (None,)
    if first is not None:
        more = f" (and {len(others)} more after it)" if others else ""
        screen.print(f"not as recorded: visit {first.visit}, {one_line(first.what, 300)}{more}", style="yellow")
    screen.print(_headline(found), style="bold green" if found.same else "bold red")
    for text in found.differences[:SHOWN]:
        screen.print(f"  {one_line(text, 200)}")
    if len(found.differences) > SHOWN:
        screen.print(f"  and {len(found.differences) - SHOWN} more (--json has all)")
    if found.into:
        screen.print(f"  the copy is in {found.into}: `kotef show --root {found.into}`")


def _headline(found: Replayed) -> str:
    then = f"{found.then.outcome} after {counted(found.then.attempts, 'failed attempt')}"
    if found.same and found.ended_from_outside:
        return f"the same up to the point where it was stopped from outside: {then}"
    if found.same:
        return f"the same result: {then}, with the same failures and trees"
    now = f"{found.now.outcome} after {counted(found.now.attempts, 'failed attempt')}"
    return f"a different result: {then} then, {now} now"


def show_rejudgement(found: Rejudgement, screen: Console) -> None:
    """Each visit as it was judged then, and now."""
    for text in found.notices:
        screen.print(f"note: {one_line(text, 200)}", style="yellow")
    for visit in found.visits:
        name = f"visit {visit.visit}" if visit.visit else "baseline"
        changed = [check for check in found.checks if check.visit == visit.visit and not check.same]
        style = "" if visit.same and not changed else "bold red"
        screen.print(f"{name}: {_then_now(visit)}", style=style)
        for check in changed:
            screen.print(f"  {one_line(check.check)}: {_then_now(check)}", style="red")
    then = f" by kotef {found.kotef_version}" if found.kotef_version else ""
    sentence = "everything is judged as before" if found.same else "some verdicts differ"
    screen.print(f"{sentence}{then}", style="bold green" if found.same else "bold red")


def _then_now(one: Rejudged) -> str:
    then, now = _words(one.then), _words(one.now)
    return f"{then} → {now}" if then != now else f"{then}, as then"


def _words(said: JudgedOutcome) -> str:
    """`failed: test_failure/assertion, 3c2c8a897334`."""
    kind = "/".join(part for part in (said.kind, said.detail) if part)
    what = ", ".join(part for part in (kind, said.fingerprint) if part)
    return ("passed" if said.passed else "failed") + (f": {what}" if what else "")
