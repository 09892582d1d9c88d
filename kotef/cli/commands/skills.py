"""`kotef skills`: the skills a model may use here, and where each is from."""

import click

from kotef.cli.options import JSON, where


@click.command()
@where
@JSON
def skills(root: str | None, as_json: bool) -> None:
    """List the skills of .sdd/skills, .agents/skills and the user's configuration, with the reason for each broken one.

    \b
    Examples:
      kotef skills
      kotef skills --root ~/shop --json

    A skill is a folder with a SKILL.md, whose head has the fields name and description. If two have the same name, the
    one in the first of these places counts. Exit status 0 even if one is broken.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.screen import console, one_line, plain, say_json
    from kotef.cli.workspace_option import workspace_of
    from kotef.context.skills import FILE, PLACES
    from kotef.runs.available_tools import skills_of, users_skills

    known = skills_of(workspace_of(root))
    if as_json:
        facts = {
            "skills": [
                {"name": one.name, "description": one.description, "from": one.place, "path": str(one.folder / FILE)}
                for one in known.found
            ],
            "hidden": [{"name": one.name, "from": one.place} for one in known.hidden],
            "problems": [problem.model_dump() for problem in known.problems],
        }
        say_json(facts)
        return
    screen = console()
    if not (known.found or known.problems):
        screen.print(
            f"no skills here; a skill is a folder with a {FILE} in {', '.join(PLACES)} or {plain(str(users_skills()))}"
        )
    for one in known.found:
        screen.print(f"{plain(one.name):<24} {plain(one.place)}\n    {one_line(one.description, 200)}", soft_wrap=True)
    for one in known.hidden:
        text = (
            f"{plain(one.name):<24} {plain(one.place)}: not used, because another skill of that name takes precedence"
        )
        screen.print(text, style="yellow", soft_wrap=True)
    for problem in known.problems:
        screen.print(f"broken: {plain(str(problem))}", style="red", soft_wrap=True)
