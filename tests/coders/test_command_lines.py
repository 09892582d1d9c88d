"""Which program a part of a chain means, and what exactly is run."""

import re
import shlex
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.coders.chain import KNOWN, Link, parse_chain
from kotef.coders.command.line import command_of, is_command
from kotef.coders.command.presets import PRESETS, names_passed
from kotef.errors import UsageError


def template(text: str) -> str:
    command = command_of(text)
    assert command is not None
    return command.template


def test_a_command_is_the_last_of_a_chain_and_keeps_its_commas() -> None:
    links = parse_chain("fixers, search:10s, tool --files a.py,b.py {brief}")
    assert links == (
        Link("fixers", None),
        Link("search", 10.0),
        Link("command", None, "tool --files a.py,b.py {brief}"),
    )


def test_a_name_of_the_table_is_a_link_and_may_have_a_time() -> None:
    assert parse_chain("aider:300s,model") == (Link("aider", 300.0, "aider"), Link("model", None))
    assert parse_chain("fixers,mini,aider") == (
        Link("fixers", None),
        Link("mini", None, "mini"),
        Link("aider", None, "aider"),
    )


def test_a_program_of_the_table_may_be_named_by_its_path_alone() -> None:
    links = parse_chain("fixers,/opt/bin/aider:300s,~/bin/codex,./mini")
    assert links[1:] == (
        Link("aider", 300.0, "/opt/bin/aider"),
        Link("codex", None, "~/bin/codex"),
        Link("mini", None, "./mini"),
    )
    assert template("/opt/bin/aider") == f"/opt/bin/{template('aider')}"


@pytest.mark.parametrize("part", ["/opt/bin/fixers", "/opt/bin/tool", "/opt/bin/", "/"])
def test_any_other_path_alone_is_not_understood(part: str) -> None:
    with pytest.raises(UsageError, match="is not understood"):
        parse_chain(part)


def test_a_program_of_the_table_is_itself_with_words_of_ones_own() -> None:
    assert parse_chain("search,aider --model some/model") == (
        Link("search", None),
        Link("aider", None, "aider --model some/model"),
    )


WORDS = st.text("abcxyz,.-_='\"$ {}", max_size=40)


@given(st.lists(st.sampled_from([*KNOWN, *PRESETS]), unique=True, max_size=4), WORDS)
def test_a_command_reads_back_as_written(names: list[str], words: str) -> None:
    """Whatever it holds: nothing after its first word is taken for a coder."""
    command = f"my_tool run {words} {{brief}}"
    links = parse_chain(",".join([*names, command]))
    assert [link.name for link in links] == [*names, "command"]
    assert links[-1].command == command


@given(st.text(max_size=60))
def test_any_text_is_a_chain_or_a_usage_error(text: str) -> None:
    with suppress(UsageError):
        links = parse_chain(text)
        assert links
        assert not any(link.command for link in links[:-1]) or all(
            link.name in PRESETS for link in links if link.command
        )


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_each_row_gives_a_whole_command_line(preset) -> None:
    line = template(preset.name)
    assert line.startswith(f"{preset.name} {preset.sub}".strip())
    assert "{brief" in line
    assert all(flag in line for flag in preset.flags)
    command = command_of(preset.name)
    assert command is not None
    filled = command.filled(Path("/a b/brief.md"), Path("/a b/account"))
    assert not re.search(r"\{(brief|brief_text|account)\}", filled)
    assert subprocess.run(["bash", "-n", "-c", filled], check=False).returncode == 0


def test_flags_that_are_there_are_not_given_twice_and_the_missing_ones_are() -> None:
    line = template("aider --yes-always --message-file {brief} --chat-history-file=mine")
    assert line.count("--yes-always") == 1
    assert line.count("--chat-history-file") == 1
    assert "--no-auto-commits" in line
    assert line.count("{brief}") == 1
    assert template("codex exec --json {brief_text}").count("exec ") == 1
    assert template("/opt/bin/codex -m x").startswith("/opt/bin/codex exec --dangerously")


@pytest.mark.parametrize(
    "before",
    [
        "A=b",
        "AIDER_X=aider",
        "A=1  B='x aider y'",
        'A="x \\" y"',
        "KEY=$(pass show aider)",
        "KEY=`cat key`",
        "A=x\\ y B=",
    ],
)
def test_a_program_gets_its_flags_whatever_variables_are_set_before_it(before: str) -> None:
    for line in ("aider", "aider --model x", "/opt/bin/aider --message-file {brief}"):
        command, alone = command_of(f"{before} {line}"), command_of(line)
        assert command is not None
        assert alone is not None
        assert command == alone._replace(template=f"{before} {alone.template}")


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("tool {brief}", "tool"),
        ("./tool {brief}", "./tool"),
        ("A=1 B='x' tool {brief}", "tool"),
        ("A=1; tool {brief}", "tool"),
        ("A=$(x; tool {brief}", ""),
        ("cd sub && tool {brief}", ""),
        ("(tool {brief})", ""),
        ("cat {brief} | tool", "cat"),
    ],
)
def test_the_program_of_a_line_is_known_where_it_is_plain(text: str, program: str) -> None:
    command = command_of(text)
    assert command is not None
    assert command.program == program


@pytest.mark.parametrize(
    "template",
    [
        "cat {brief}",
        "cat '{brief}'",
        'cat "{brief}"',
        'printf %s "$(cat "{brief}")"',
        'printf %s "$(cat {brief})"',
        'printf %s "`cat {brief}`"',
        "printf %s {brief_text}",
        'printf %s "{brief_text}"',
        "printf %s ''{brief_text}",
    ],
)
def test_the_brief_reaches_the_program_whatever_its_path_and_text(tmp_path: Path, template: str) -> None:
    folder = tmp_path / "it's a $HOME"
    folder.mkdir()
    text = "a 'b' \"c\" $(touch hurt) `touch hurt` \\ * é\n- x"
    (folder / "brief.md").write_text(text)
    command = command_of(template)
    assert command is not None
    line = command.filled(folder / "brief.md", folder / "account")
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == text
    assert not (tmp_path / "hurt").exists()


@pytest.mark.parametrize(
    "template", ["echo 'Read {brief}, now'", 'echo "Read {brief}, now"', "echo Read\\ {brief}', now'"]
)
@pytest.mark.parametrize("folder", ["plain", 'it\'s a "$HOME"'])
def test_the_path_of_the_brief_may_stand_in_a_longer_quoted_word(tmp_path: Path, folder: str, template: str) -> None:
    command = command_of(template)
    assert command is not None
    file = tmp_path / folder / "brief.md"
    done = subprocess.run(["bash", "-c", command.filled(file, file)], capture_output=True, text=True, check=True)
    assert done.stdout == f"Read {file}, now\n"


@pytest.mark.parametrize(
    "line",
    [
        'tool "Solve: {brief_text}"',
        "tool 'Solve: {brief_text}'",
        "bash -c 'tool {brief_text}'",
        "aider -m 'a {brief_text}'",
    ],
)
def test_the_text_of_the_brief_within_a_longer_quoted_word_is_refused(line: str) -> None:
    """It would be split into words, handed over as it stands, or read as a script."""
    with pytest.raises(UsageError, match=r"^--coder: \{brief_text\} is inside quotes with other words \(.+\)$"):
        parse_chain(f"fixers,{line}")


def test_the_text_of_the_brief_may_be_joined_to_a_quoted_word(tmp_path: Path) -> None:
    file = tmp_path / "brief.md"
    file.write_text("a  * $HOME")
    (link,) = parse_chain("printf '<%s>' \"Solve: \"{brief_text}'!'")
    command = command_of(link.command)
    assert command is not None
    done = subprocess.run(["bash", "-c", command.filled(file, file)], capture_output=True, text=True, check=True)
    assert done.stdout == "<Solve: a  * $HOME!>"


def test_a_line_without_a_placeholder_is_no_command_unless_the_table_knows_it() -> None:
    assert command_of("python agent.py") is None
    assert is_command("python agent.py")
    assert not is_command("aider")


def test_only_named_variables_are_passed() -> None:
    env = ["OPENAI_API_KEY", "AIDER_MODEL", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "MINE", "HTTPS_PROXY"]
    assert names_passed(PRESETS["aider"], ["MINE"], env) == ("AIDER_MODEL", "HTTPS_PROXY", "MINE", "OPENAI_API_KEY")
    assert names_passed(None, [], env) == ("HTTPS_PROXY",)


@pytest.mark.parametrize("name", ["http_proxy", "https_proxy", "all_proxy", "no_proxy"])
def test_the_proxy_is_passed_however_it_is_spelled(name: str) -> None:
    assert names_passed(None, [], [name, name.upper()]) == (name.upper(), name)


def test_a_row_names_no_folder_of_the_whole_home() -> None:
    """What is shared or copied is a file with a name: never the home, nor a folder that could hold anything."""
    for preset in PRESETS.values():
        for name in (*preset.copied, *preset.shared):
            assert not name.startswith("/")
            assert ".." not in name
            assert shlex.quote(name) == name
