"""`kotef schema`: the JSON schema of result.json."""

import click


@click.command()
@click.argument("name", type=click.Choice(["result"]))
def schema(name: str) -> None:  # noqa: ARG001  there is one schema yet
    """Print a JSON schema: `result` describes result.json and the output of `kotef run --json`.

    \b
    Examples:
      kotef schema result > result.schema.json
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.screen import say_json
    from kotef.runs.result import schema as result_schema

    say_json(result_schema())
