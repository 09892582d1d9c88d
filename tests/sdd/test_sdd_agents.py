"""Roles are read block by block, and a repository's can only narrow what a run may do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cpu_time import bounded_cpu
from support.example_count import example_count

from kotef.sdd.agents import READ_ONLY_CALLS, Role, layered, parse_roles, slug
from kotef.settings import Limits

FILE = """\
# Who works here

Some words about it.

## Docs writer

---
model: small
base_url: local
temperature: 0.2
tools: view_file, "write_file"
steps: 3
max-tool-calls: 7
description: Writes documents.
---

Write documents.

### Tone
Plain.

## Terse

```yaml
# a comment
tools:
  - grep
  - view_file
```

## Only words
Be brief.
"""


def read(text: str) -> dict[str, Role]:
    return {role.name: role for role in parse_roles(text, "a.md").roles}


def problem(text: str) -> str:
    (found,) = parse_roles(text, "a.md").problems
    return str(found)


def test_a_block_has_fields_and_then_a_prompt() -> None:
    roles = read(FILE)
    assert list(roles) == ["docs-writer", "terse", "only-words"]
    assert roles["docs-writer"] == Role(
        name="docs-writer",
        prompt="Write documents.\n\n### Tone\nPlain.",
        description="Writes documents.",
        model="small",
        base_url="local",
        temperature=0.2,
        tools=("view_file", "write_file"),
        steps=3,
        max_tool_calls=7,
        source="a.md:5",
    )
    assert (roles["terse"].tools, roles["terse"].prompt) == (("grep", "view_file"), "")
    assert (roles["only-words"].prompt, roles["only-words"].tools) == ("Be brief.", None)
    assert parse_roles(FILE, "a.md").problems == ()


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("## a\n---\nsteps: 300\n---\n", "a.md:3: the role a: steps: 300 is not a whole number from 0 to 200;"),
        ("## a\n---\nsteps: many\n---\n", "a.md:3: the role a: steps: many is not a whole number from 0 to 200;"),
        (
            "## a\n---\nmax_tool_calls: 0\n---\n",
            "a.md:3: the role a: max_tool_calls: 0 is not a whole number from 1 to 100;",
        ),
        ("## a\n---\ntemperature: hot\n---\n", "a.md:3: the role a: temperature: hot is not a number from 0 to 2;"),
        ("## a\n\n---\nsteps: 3\n", "a.md:3: the role a: the `---` that ends its head is missing"),
        ("## a\n---\njust words\n---\n", "a.md:3: the role a: 'just words' is not a field; write `name: value`"),
        ("## a\n---\nmodel:\n---\n", "a.md:3: the role a: model: no value"),
        ("## a\n---\ntools:\n---\n", "a.md:3: the role a: tools: no value; leave the line out instead"),
        ("## a\n---\nsteps: 1\nsteps: 2\n---\n", "a.md:4: the role a: the field steps appears twice"),
        ("## a\n```yaml\nsteps: 3\n", "a.md:2: the role a: this fence is never closed"),
        ("## a\n---\nmax-tool-calls: 0\n---\n", "a.md:3: the role a: max_tool_calls: 0 is not"),
        ("## a\n", "a.md:1: the role a: is empty"),
        ("## ???\nwords\n", "a.md:1: the name of a role needs a letter or a digit"),
        ("## a\nfirst\n## A\nsecond\n", "a.md:3: the role a: is defined twice; the first one, in line 1, is used"),
    ],
)
def test_a_malformed_block_is_named_by_its_line_and_costs_no_other(block: str, said: str) -> None:
    text = f"{block}## fine\nGo on.\n"
    assert problem(text).startswith(said)
    assert problem(text).endswith("this block is left out")
    assert "fine" in read(text)


def test_a_block_that_stands_in_for_a_malformed_one_of_its_name_is_told_of() -> None:
    found = parse_roles("## a\n---\nsteps: many\n---\n## A\nsecond\n## a\nthird\n", "a.md")
    first = "the role a: steps: many is not a whole number from 0 to 200"

    assert [role.prompt for role in found.roles] == ["second"]
    assert list(map(str, found.problems)) == [
        f"a.md:3: {first}; this block is left out, and the one in line 5 is used",
        "a.md:7: the role a: is defined twice; the first one, in line 5, is used; this block is left out",
    ]
    assert found.broken == (), "there is a role of this name"


def test_a_malformed_block_is_known_by_its_name() -> None:
    found = parse_roles("## a\n---\nsteps: many\n---\n## Big boss\n", "a.md")

    assert [name for name, _ in found.broken] == ["a", "big-boss"]
    assert tuple(problem for _, problem in found.broken) == found.problems


@pytest.mark.parametrize(
    ("field", "values"), [("temperature", (0, 2)), ("steps", (0, 200)), ("max_tool_calls", (1, 100))]
)
def test_the_bounds_a_problem_names_are_those_in_force(field: str, values: tuple[int, int]) -> None:
    for value in values:
        assert getattr(read(f"## a\n---\n{field}: {value}\n---\n")["a"], field) == value
    for value in (values[0] - 1, values[1] + 1):
        assert f"{value} is not a" in problem(f"## a\n---\n{field}: {value}\n---\n")
        assert f"number from {values[0]} to {values[1]}" in problem(f"## a\n---\n{field}: {value}\n---\n")


def test_a_field_nobody_knows_is_kept_to_stop_the_run() -> None:
    assert read("## a\n---\ncolour: red\nsteps: 2\n---\n")["a"].unknown == ("colour",)


def test_a_heading_in_a_fence_begins_no_role() -> None:
    assert list(read("## a\nUse this:\n```\n## b\n```\n")) == ["a"]


def test_no_tools_at_all_can_be_asked_for() -> None:
    assert read("## a\n---\ntools: none\n---\n")["a"].tools == ()


@pytest.mark.parametrize(
    ("title", "name"), [("Security auditor", "security-auditor"), ("  A/B  ", "a-b"), ("Ärzte", "ärzte")]
)
def test_a_role_is_chosen_by_the_words_of_its_title(title: str, name: str) -> None:
    assert slug(title) == name


def test_the_users_file_changes_only_what_it_says() -> None:
    below = Role(name="a", prompt="old", steps=5, model="m", source="built in")
    above = Role(name="a", steps=9, temperature=0, source="u.md:1")
    (role,) = layered([below], [above], [], trusted=False).roles.values()
    assert role == below.model_copy(update={"steps": 9, "temperature": 0, "source": "u.md:1, built in"})


def test_a_repository_narrows_and_says_nothing_unless_it_is_trusted() -> None:
    below = Role(name="a", tools=("grep", "view_file"), steps=5, source="built in")
    above = Role(name="a", tools=("grep", "write_file"), steps=9, max_tool_calls=4, model="evil", prompt="obey")
    layers = layered([below], [], [above], trusted=False)
    role = layers.roles["a"]
    assert (role.tools, role.steps, role.max_tool_calls) == (("grep",), 5, 4)
    assert (role.model, role.prompt) == ("", "")
    assert layers.ignored == {"a": ("prompt", "model")}
    trusted = layered([below], [], [above], trusted=True)
    assert (trusted.roles["a"].model, trusted.roles["a"].prompt, trusted.ignored) == ("evil", "obey", {})
    assert (trusted.roles["a"].tools, trusted.roles["a"].steps) == (("grep",), 5)


NAMES = st.lists(st.sampled_from(["grep", "view_file", "write_file", "edit_file"]), max_size=4, unique=True)
ROLES = st.builds(
    Role,
    name=st.just("a"),
    tools=st.none() | NAMES.map(lambda names: tuple(sorted(names))),
    steps=st.none() | st.integers(0, 200),
    max_tool_calls=st.none() | st.integers(1, 100),
    model=st.sampled_from(["", "m"]),
    base_url=st.sampled_from(["", "http://x"]),
    temperature=st.none() | st.floats(0, 2),
    prompt=st.sampled_from(["", "obey"]),
)


@given(ROLES, ROLES, st.booleans())
@example_count(150)
def test_whatever_a_repository_says_the_run_may_do_no_more(below: Role, above: Role, trusted: bool) -> None:
    role = layered([below], [], [above], trusted=trusted).roles["a"]
    limits, before = role.bound(Limits(), edits=True), below.bound(Limits(), edits=True)
    assert (limits.max_steps, limits.max_tool_calls) <= (before.max_steps, before.max_tool_calls)
    assert limits.max_tool_calls <= before.max_tool_calls
    if below.tools is not None:
        assert role.tools is not None
        assert set(role.tools) <= set(below.tools)
    if not trusted:
        assert [getattr(role, name) for name in ("model", "base_url", "temperature", "prompt")] == [
            getattr(below, name) for name in ("model", "base_url", "temperature", "prompt")
        ]


@given(st.integers(0, 200) | st.none(), st.integers(1, 100) | st.none(), st.integers(0, 200), st.integers(1, 100))
def test_a_role_never_raises_a_limit(steps: int | None, calls: int | None, most: int, budget: int) -> None:
    limits = Limits(max_steps=most, max_tool_calls=budget)
    role = Role(name="a", steps=steps, max_tool_calls=calls)
    assert role.bound(limits, edits=True).max_steps == min(most, most if steps is None else steps)
    assert role.bound(limits, edits=True).max_tool_calls == min(budget, calls or budget)
    assert role.bound(limits, edits=False).max_tool_calls == min(budget, calls or READ_ONLY_CALLS)


@given(
    st.text(max_size=12),
    st.text(alphabet=st.characters(exclude_characters="#`~-<\r", categories=("L", "N", "P", "Zs"))),
)
@example_count(80)
def test_a_prompt_comes_back_as_it_was_written(title: str, prompt: str) -> None:
    found = parse_roles(f"## role x\n---\nsteps: 1\n---\n{prompt}\n", "a.md")
    assert [role.prompt for role in found.roles] == [prompt.strip()]
    assert isinstance(parse_roles(f"## {title}\n{prompt}", "a.md").roles, tuple)


@given(
    st.lists(
        st.sampled_from(
            ["## a\n", "---\n", "steps: 1\n", "- x\n", "```\n", "tools:\n", "<!--\n", "-->\n", "# t\n", "w\n"]
        )
    )
)
@example_count(150)
def test_any_file_has_a_reading(parts: list[str]) -> None:
    found = parse_roles("".join(parts), "a.md")
    assert all(role.name == "a" for role in found.roles)
    assert all(line.line >= 1 for line in found.problems)


@pytest.mark.parametrize(
    "unit", ["## a\n", "---\n", "## a\n---\n", "```\n", "a: b\n", "## a\n```\n", "- x\n", "a" * 50]
)
def test_reading_takes_linear_time(unit: str) -> None:
    with bounded_cpu():
        parse_roles(unit * (150_000 // len(unit)), "a.md")
