"""How does a person read one run?"""

from pathlib import Path

from kotef.context.prompts import environment
from kotef.runs.result import Result


def render_report(result: Result) -> str:
    """`report.md`: the outcome in a sentence, the verdict, the failures; rebuilt from `result.json` alone."""
    lists = (
        ("Changed files", result.changed),
        ("Fixed", result.fixed),
        ("Broken by the run", result.broken),
        ("Flaky: failed with the others, passed alone", result.flaky),
        ("Missing tests", result.missing),
        ("Red before the run, and not asked for", result.preexisting),
        ("New tests", result.new_tests),
        ("New tests proved red first", result.proved),
        ("Put back or set aside before judging", result.put_back),
        ("Left, because somebody else changed them", result.left),
    )
    template = environment(Path(__file__).parent).get_template("report.md")
    return template.render(r=result, lists=lists) + "\n"
