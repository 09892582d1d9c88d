"""Prompt templates: where each comes from, and how it is filled in."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import jinja2

from kotef.context.template_cache import Compiled
from kotef.errors import SpecError
from kotef.files import read_within

PACKAGE = Path(__file__).resolve().parent.parent


LARGEST: Final = 1024 * 1024
"""Bytes of one prompt."""

_MARKS: Final = re.compile(r"<(\s*/?\s*repository\s*)>", re.IGNORECASE)


def shipped() -> Path:
    """The directory of the shipped prompts: in the package when installed from a wheel, beside it in a checkout."""
    inside = PACKAGE / "prompts"
    return inside if inside.is_dir() else PACKAGE.parent / "prompts"


def clip(text: str, limit: int) -> str:
    """At most `limit` characters of `text`, with a note if it was cut."""
    return text if len(text) <= limit else f"{text[:limit]}… [{len(text) - limit} characters cut]"


def cell(text: str) -> str:
    """`text` on one line that cannot break out of a table cell or a list item."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """`cell`, for the inside of a code span."""
    return cell(text).replace("`", "'")


def within(value: Any) -> Any:
    """A value to fill in, without a mark that would end the surrounding material."""
    return _MARKS.sub(r"‹\1›", value) if isinstance(value, str) else value


@cache
def environment(*places: Path, material: bool = False) -> jinja2.Environment:
    """Markdown templates from `places`, first to last; a fact that is not given is an error, never an empty string.

    `material`: what is filled in was written by strangers, and holds no mark that would end where it stands.
    """
    cache = None
    if all(_is_ours(place) for place in places):
        cache = Compiled("material" if material else "")
    templates = jinja2.Environment(  # noqa: S701  Markdown, never HTML
        loader=jinja2.ChoiceLoader([_loader(place) for place in places]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=False,
        finalize=within if material else None,
        bytecode_cache=cache,
    )
    templates.filters |= {"clip": clip, "cell": cell, "code": code}
    return templates


def _is_ours(place: Path) -> bool:
    return place == shipped() or PACKAGE in place.parents


def _loader(place: Path) -> jinja2.BaseLoader:
    """For a repository's folder: read only regular files below it, and read them again each time."""
    if _is_ours(place):
        return jinja2.FileSystemLoader(str(place))

    def load(name: str) -> tuple[str, str, Callable[[], bool]] | None:
        try:
            text = read_within(place, name, largest=LARGEST).decode()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise SpecError(place / name, f"cannot be read: {error}", hint="put a plain text file there") from error
        return text, str(place / name), lambda: False

    return jinja2.FunctionLoader(load)


class Prompts:
    """The templates in force: those of a trusted repository over the shipped ones."""

    def __init__(self, overrides: Path | None = None) -> None:
        """`overrides` is `.sdd/prompts` of a repository the user trusts, else None."""
        self.overrides = overrides

    @property
    def _environment(self) -> jinja2.Environment:
        return environment(*([self.overrides] if self.overrides else []), shipped(), material=True)

    def head(self, name: str) -> str:
        """The beginning of the prompt `name` up to its first variable."""
        environment = self._environment
        assert environment.loader is not None  # noqa: S101  it was made with one
        return environment.loader.get_source(environment, f"{name}.md")[0].partition("{")[0]

    def render(self, name: str, **facts: Any) -> str:
        """The prompt `name` (without `.md`) with `facts` filled in; a fact the template misses is a SpecError."""
        try:
            return self._environment.get_template(f"{name}.md").render(**facts)
        except jinja2.TemplateError as error:
            place = self.overrides if self.overrides and (self.overrides / f"{name}.md").exists() else shipped()
            raise SpecError(
                place / f"{name}.md", f"cannot be rendered: {error}", hint="fix or delete the override"
            ) from error
