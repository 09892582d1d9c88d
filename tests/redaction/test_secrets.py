"""Which values are secrets, and is nothing left of one wherever and however it is printed?"""

import asyncio
import base64
import hashlib
import json
import os
import shlex
import string
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict
from support.cpu_time import bounded_cpu
from support.example_count import example_count

from kotef.redaction.known_secrets import know, redactor, scope
from kotef.redaction.secrets import (
    SECRET_MARK,
    MarkError,
    Redactor,
    secrets_of_env_file,
    secrets_of_environment,
    secrets_of_run,
)
from kotef.sandbox import run_process

KEY = "sk-live-9fJ2mXq7Lw0aVb3TzRk8"
HIDDEN = "[secret:API_KEY]"

values = st.text(string.ascii_letters + string.digits + "+/=_-.$%&<>\"'\\é", min_size=8, max_size=40).filter(
    lambda value: not value.isspace()
)
around = st.text(max_size=30)


def hides(value: str) -> Redactor:
    return Redactor([("API_KEY", value)])


def forms(value: str, before: str = "") -> dict[str, str]:
    """The value as programs print it."""
    raw = (before + value).encode()
    return {
        "plain": value,
        "base64": base64.b64encode(raw).decode(),
        "url-safe": base64.urlsafe_b64encode(raw).decode(),
        "hex": value.encode().hex(),
        "HEX": value.encode().hex().upper(),
        "quoted": quote(value, safe=""),
        "plus": quote_plus(value),
        "json": json.dumps(value)[1:-1],
        "repr": repr(value)[1:-1],
    }


def core(form: str) -> str:
    """The middle of an encoded value: what its neighbours in the text do not change."""
    return form[4:-4]


@given(value=values, before=st.text(string.ascii_letters, max_size=2), start=around, end=around)
@example_count(150)
@example(value="+/+/+/+/", before="a", start="", end="")
def test_no_form_of_a_value_is_left(value: str, before: str, start: str, end: str) -> None:
    for name, form in forms(value, before).items():
        shown = hides(value).text(f"{start}\n{form}\n{end}")
        assert HIDDEN in shown, name
        assert form not in shown or form in start + end, name


@given(value=values, cuts=st.lists(st.integers(1, 40), max_size=6), gap=st.sampled_from(["\n", " ", "\r\n", "\n    "]))
def test_a_value_broken_over_lines_is_found(value: str, cuts: list[int], gap: str) -> None:
    for form in forms(value).values():
        broken = form
        for cut in sorted(cuts, reverse=True):
            broken = broken[:cut] + gap + broken[cut:]
        assert hides(value).text(f"a: {broken} z").startswith(f"a: {HIDDEN}")


@given(value=values, text=st.text(max_size=200))
def test_text_without_the_value_is_the_same_object(value: str, text: str) -> None:
    bare = "".join(text.split())
    assume(not any("".join(form.split()) in bare for form in forms(value).values()))
    assume(value[:6] not in bare)
    assert hides(KEY).text(text) is text


@given(st.data())
@example_count(150)
def test_a_stream_shows_what_the_whole_would_whatever_the_pieces(data: st.DataObject) -> None:
    value = data.draw(values)
    form = data.draw(st.sampled_from(sorted(forms(value).values())))
    parts = data.draw(st.lists(st.sampled_from([form, form[:5], form[-5:], "text ", "\n", "é"]), max_size=8))
    content = "".join(parts).encode()
    stream, shown, at = hides(value).stream(), b"", 0
    while at < len(content):
        size = data.draw(st.integers(1, 12))
        shown += stream.feed(content[at : at + size])
        at += size
    shown += stream.end()
    assert shown == hides(value).content(content)


def test_a_stream_keeps_nothing_back_that_cannot_become_a_value() -> None:
    stream = hides(KEY).stream()
    assert stream.feed(b"listening on http://localhost:8000\n") == b"listening on http://localhost:8000\n"
    assert stream.feed(b"key: sk-li") == b"key: "
    assert stream.feed(b"ghtning\n") == b"sk-lightning\n"
    assert stream.end() == b""


def test_white_space_without_end_is_not_kept_for_ever() -> None:
    stream = hides(KEY).stream()
    shown = stream.feed(b"sk-") + b"".join(stream.feed(b" " * 65_536) for _ in range(4))
    assert len(shown) > 3 * 65_536


@given(value=values, text=st.text(st.sampled_from("ab \n"), max_size=40), position=st.integers(0, 40))
def test_what_is_shown_can_be_put_back(value: str, text: str, position: int) -> None:
    whole = f"{text[:position]}{value}{text[position:]} and {value.encode().hex()} [secret:OTHER]"
    shown = hides(value).shown(whole)
    assert value not in shown.text
    assert shown.restored(shown.text) == whole
    assert shown.restored(f"new line\n{shown.text}") == f"new line\n{whole}"


def test_a_mark_that_was_not_in_the_text_cannot_be_put_back() -> None:
    shown = hides(KEY).shown(f"key = {KEY}\n")
    assert shown.restored(f"k = {HIDDEN}\nagain = {HIDDEN}") == f"k = {KEY}\nagain = {KEY}"
    with pytest.raises(MarkError, match="OTHER"):
        shown.restored("key = [secret:OTHER]")
    with pytest.raises(MarkError, match="different texts"):
        hides(KEY).shown(f"{KEY} {KEY.encode().hex()}").restored(HIDDEN)


def test_every_text_of_a_model_is_hidden_and_a_clean_model_is_the_same() -> None:
    class Inner(BaseModel):
        model_config = ConfigDict(frozen=True)
        words: tuple[str, ...]

    class Outer(BaseModel):
        model_config = ConfigDict(frozen=True)
        inner: Inner
        by_name: dict[str, list[str]]
        number: int = 3

    clean = Outer(inner=Inner(words=("a", "b")), by_name={"x": ["y"]})
    assert hides(KEY).whole(clean) is clean
    told = hides(KEY).whole(Outer(inner=Inner(words=("a", f"is {KEY}")), by_name={"x": [KEY]}))
    assert told == Outer(inner=Inner(words=("a", f"is {HIDDEN}")), by_name={"x": [HIDDEN]})


HONEST = {
    "CI_TOKEN": "changeme",
    "A_SECRET": "xxxxxxxxxxxx",
    "B_KEY": "your-api-key-here",
    "C_PASSWORD": "password123",
    "D_TOKEN": "short",
    "E_KEY": "<put your key here>",
    "F_SECRET": "${FROM_ELSEWHERE}",
    "G_KEY": "12345678",
    "SSH_KEY_PATH": "/home/me/.ssh/id_rsa",
    "H_KEY": "H_KEY",
    "I_SECRET": "test-secret-key",
    "J_TOKEN": "true",
    "K_PASSWORD": "postgres",
}


def test_what_only_stands_for_a_secret_is_none() -> None:
    assert secrets_of_environment(HONEST) == []


def test_secrets_of_the_environment_are_told_by_their_names() -> None:
    env = {"OPENAI_API_KEY": KEY, "GREETING": KEY, "PGPASSWORD": "Kx83-lpQ2", "URL": "postgres://me:s3/cr%40tpw9@db/x"}
    found = [("OPENAI_API_KEY", KEY), ("PGPASSWORD", "Kx83-lpQ2"), ("URL", "s3/cr%40tpw9"), ("URL", "s3/cr@tpw9")]
    assert secrets_of_environment({**HONEST, **env}) == found
    two = {"BROKERS": "amqp://a:Kx83-lpQ2@one,amqp://b:Zq4-77-ppL@two"}
    assert secrets_of_environment(two) == [("BROKERS", "Kx83-lpQ2"), ("BROKERS", "Zq4-77-ppL")]
    assert secrets_of_environment({"KEYS": '["Kx83-lpQ2"]'}) == [("KEYS", '["Kx83-lpQ2"]')]


def test_secrets_of_an_environment_file_are_told_from_its_settings() -> None:
    text = f"""
# a comment
export API_KEY="{KEY}"
NODE_ENV=development
DJANGO_SETTINGS_MODULE=config.settings
PORT=8000
HOST=localhost:8000
QUOTED='wJalrXUtnFEMI/K7MDENG'   # with a comment
SALT = f8a0c2d4e6b81357
DATABASE_URL=postgres://app:Zq4-77-ppL@db:5432/app
PEM="-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASC
-----END PRIVATE KEY-----"
"""
    found = dict(secrets_of_env_file(text))
    assert found.keys() == {"API_KEY", "QUOTED", "SALT", "DATABASE_URL", "PEM"}
    assert Redactor(secrets_of_env_file(text)).text("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC") == "[secret:PEM]"
    assert Redactor(secrets_of_env_file(text)).text("as app with Zq4-77-ppL") == "as app with [secret:DATABASE_URL]"


def test_the_key_in_the_file_of_a_service_account_is_a_secret_by_itself() -> None:
    account = json.dumps({"type": "service_account", "private_key": "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ"})
    known = Redactor(secrets_of_environment({"GOOGLE_CREDENTIALS": account}))
    assert known.text("it is MIIEvQIBADANBgkqhkiG9w0BAQ") == "it is [secret:GOOGLE_CREDENTIALS]"
    assert known.text("a service_account") == "a service_account"


def test_the_key_of_the_run_is_a_secret_even_if_it_reads_like_none() -> None:
    assert secrets_of_run({"OPENAI_API_KEY": "secret-token-1"}) == [("OPENAI_API_KEY", "secret-token-1")]
    assert secrets_of_run({"OPENAI_API_KEY": "not-needed", "X": "none", "Y": "xxxxxxxx"}) == []


def test_honest_output_is_left_alone() -> None:
    commit = hashlib.sha1(b"a commit").hexdigest()
    text = f"HEAD is now at {commit[:7]}\n{commit}\n{base64.b64encode(os.urandom(60)).decode()}\nchangeme password\n"
    assert hides(KEY).text(text) is text


def test_a_million_lines_take_no_time_worth_the_name() -> None:
    many = Redactor((f"N{number}", hashlib.sha256(bytes([number])).hexdigest()) for number in range(5))
    text = b"an ordinary line of output, as any build prints it 0123456789abcdef\n" * 150_000
    with bounded_cpu():
        assert many.content(text) is text


def test_spaces_between_cannot_make_it_slow() -> None:
    text = (KEY[:20].replace("", " " * 50) * 200 + KEY + " " * 100_000).encode()
    with bounded_cpu():
        assert HIDDEN.encode() in hides(KEY).content(text)


def test_what_is_known_holds_for_tasks_and_ends_with_its_scope() -> None:
    async def told() -> str:
        return await asyncio.to_thread(redactor().text, KEY)

    with scope():
        know(hides(KEY))
        assert asyncio.run(told()) == HIDDEN
    assert asyncio.run(told()) == KEY


@pytest.mark.parametrize("how", ["whole", "in pieces", "base64"])
def test_neither_the_result_nor_the_log_of_a_command_holds_a_secret(tmp_path: Path, how: str) -> None:
    """The script has the value in it; a chunk of output ends in the middle of it."""
    script = {
        "whole": f"echo {KEY}; echo {KEY} >&2",
        "in pieces": f"printf {KEY[:9]}; sleep 0.2; echo {KEY[9:]}",
        "base64": f"printf %s {KEY} | base64 -w 7",
    }[how]
    log = tmp_path / "log"
    env = {"PATH": os.environ["PATH"]}
    with scope():
        know(hides(KEY))
        command = f"sh -c {shlex.quote(script)}"
        done = asyncio.run(run_process(command, cwd=tmp_path, env=env, timeout=20, idle_timeout=None, log=log))
    assert done.exit_code == 0
    assert HIDDEN in done.stdout
    for text in (done.stdout, done.stderr, log.read_text()):
        assert not any(core(form) in "".join(text.split()) for form in forms(KEY).values())
    assert SECRET_MARK.search(log.read_text())
