"""The Markdown report of one run."""

from pathlib import Path

from kotef.context.prompts import environment
from kotef.report.visible_text import visible_text
from kotef.runs.result import Result, ResultProbe


def render_report(result: Result) -> str:
    """`report.md`: the outcome in a sentence, the verdict, the failures; rebuilt from `result.json` alone."""
    untried = " (not tried on the code before the run)" if result.unproved is None else ""
    lists = (
        ("Changed files", result.changed),
        ("Files the model read", result.files_read),
        ("Fixed", result.fixed),
        ("Broken by the run", result.broken),
        ("Flaky: failed with the others, passed alone", result.flaky),
        ("Missing tests", result.missing),
        ("Red before the run, not part of the task", result.preexisting),
        (f"New tests{untried}", result.new_tests),
        ("New tests that fail on the code before the run", result.proved),
        ("New tests that prove nothing: they pass on that code as well", result.unproved or ()),
        ("Probes of the judge", tuple(f"{probe.name}: {_value(probe)}{probe.told}" for probe in result.probes)),
        ("Put back or set aside before judging", result.put_back),
        ("Not touched, because someone else changed them", result.left),
    )
    template = environment(Path(__file__).parent).get_template("report.md")
    return visible_text(template.render(r=result, lists=lists)) + "\n"


def _value(probe: ResultProbe) -> str:
    return "" if probe.value == "fine" else f"{probe.value.replace('_', ' ')}, "
