"""Values that must never be shown, and their replacement."""

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, TypeVar
from urllib.parse import quote, quote_plus, unquote

from kotef.redaction.deep_text import each_text

T = TypeVar("T")

SECRET_NAME: Final = re.compile(r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL", re.IGNORECASE)
"""Pattern in the name of a variable that contains a secret."""
SHORTEST: Final = 8
"""Characters, white space aside, from which on a value is long enough to distinguish it from other text."""
LONGEST: Final = 16_384
"""Characters of one value; what is longer is a document, not a secret."""
SECRET_MARK: Final = re.compile(r"\[secret:[\w.-]{1,100}\]")
"""The mark in place of a secret value."""

_SPACE: Final = b" \t\r\n\v\f"
_GAP: Final = rb"[ \t\r\n\v\f]*+"
_HEAD: Final = 4
"""Bytes by which the forms that may begin somewhere are looked up."""
_MOST_HELD: Final = 65_536
"""Bytes a stream holds back, at most, beyond the longest form of a value."""

_LOGIN: Final = re.compile(r"\w://[^/\s:@]*:((?:(?!://)\S)+)@")
_PLACEHOLDER: Final = re.compile(
    r"<.*>|\$\{.*\}|\{\{.*\}\}|\[[\w :.-]*\]|(.)\1*|\W*|.*(?:x{4}|\*{4}|\.{3}).*", re.DOTALL
)
_COUNTED: Final = re.compile(r"(?:0?123456789?0?|\d{1,5}|(\d)\1*)?")
_WORDS: Final = re.compile(r"[A-Za-z]+|\d+")
_DUMMIES: Final = frozenset(
    """
    a abc admin an and any api apikey app bar baz bearer change changeit changeme ci credential credentials db debug
    default demo dev development django docker dummy empty example fake false fill foo for guest here hidden in insecure
    insert invalid is it key keys letmein lm local localhost me mock my mysecret mysql needed no none not nothing null
    of ollama only or pass passwd password placeholder please postgres postgresql prod production put qwerty rabbitmq
    random redacted redis replace required root sample secret secretkey secure set sk some staging string studio super
    supersecret test testing testkey tests the this to todo token true undefined unused user value with your x
    """.split()  # noqa: SIM905  a hundred words in quotes and commas are no list to read
)
"""Values that are made of these words, and of a few digits that count, stand for a secret and are none."""
_LOCAL: Final = frozenset({"lm-studio", "no-key-needed", "no-key-required", "not-needed", "sk-no-key-required"})
"""Dummy keys for local servers."""
_ORDINARY: Final = re.compile(r"[a-z]*\d{0,4}", re.IGNORECASE)
_PARTS: Final = re.compile(r"[^A-Za-z0-9]+")
_LONG_WORD: Final = 20

_ASSIGNMENT: Final = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*[=:][ \t]*
    (?:"(?P<double>(?:[^"\\]|\\.)*)" | '(?P<single>[^']*)' | `(?P<tick>[^`]*)`
     | (?P<bare>[^\n]*?)(?:[ \t]+\#[^\n]*)?[ \t\r]*$)""",
    re.MULTILINE | re.VERBOSE | re.DOTALL,
)
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}


KnownSecret = tuple[str, str]
"""The name that is shown, and the value that is not."""


def secrets_of_environment(env: Mapping[str, str]) -> list[KnownSecret]:
    """The variables whose name says that they are secret, and the password of a login in a URL."""
    return _real([*((name, value) for name, value in env.items() if SECRET_NAME.search(name)), *_logins(env.items())])


def secrets_of_env_file(text: str) -> list[KnownSecret]:
    """The secrets that a `.env` file sets."""
    return secrets_of_settings(assigned_secrets(text))


def assigned_secrets(text: str) -> list[KnownSecret]:
    """Each name at the start of a line with the value it is given there, secret or not."""
    found = list[KnownSecret]()
    for match in _ASSIGNMENT.finditer(text):
        value = match["double"]
        if value is not None:
            value = re.sub(r"\\(.)", lambda one: _ESCAPES.get(one[1], one[1]), value, flags=re.DOTALL)
        else:
            value = next(part for part in (match["single"], match["tick"], match["bare"]) if part is not None)
        found.append((match["name"], value))
    return found


def secrets_of_settings(found: Sequence[KnownSecret]) -> list[KnownSecret]:
    """Secrets among settings: by name, or because the value does not look like a plain setting."""
    secret = [(name, value) for name, value in found if SECRET_NAME.search(name) or not _is_setting(value)]
    return _real([*secret, *_logins(found)])


def secrets_of_run(keys: Mapping[str, str]) -> list[KnownSecret]:
    """Keys given to the run; all count as secrets unless they cannot be a key."""
    given = [(name, value.strip()) for name, value in keys.items()]
    return [(name, key) for name, key in given if len(key) >= SHORTEST and not _stands_for_none(key)]


def _stands_for_none(key: str) -> bool:
    return key in _LOCAL or bool(_PLACEHOLDER.fullmatch(key))


def _real(found: Iterable[KnownSecret]) -> list[KnownSecret]:
    stripped = [(name, value.strip()) for name, value in found]
    return [(name, value) for name, value in (*stripped, *_inside(stripped)) if not _is_dummy(value, name)]


def _inside(found: Iterable[KnownSecret]) -> Iterator[KnownSecret]:
    """The secrets in values that are JSON objects, as the key file of a service account is."""
    for name, value in found:
        if value.startswith("{"):
            with suppress(ValueError, RecursionError):
                for key, one in json.loads(value).items():
                    if isinstance(one, str) and SECRET_NAME.search(key):
                        yield name, one.strip()


def _is_dummy(value: str, name: str) -> bool:
    """Whether it is too short, stands for a value (`changeme`, `xxxxxxxx`), or is a path or an address without one."""
    if not SHORTEST <= len(value) <= LONGEST or value == name or _PLACEHOLDER.fullmatch(value):
        return True
    parts = [part.casefold() for part in _WORDS.findall(value)]
    words = [part for part in parts if part not in _DUMMIES and not _COUNTED.fullmatch(part)]
    if not words and value.isascii():
        return True
    return value.startswith(("/", "~/", "./", "http://", "https://", "file://")) and _is_setting(value)


def _is_setting(value: str) -> bool:
    """Whether it reads like a word, a module, a path, a host, a version: `config.settings`, `localhost:8000`."""
    return value.isascii() and all(
        _ORDINARY.fullmatch(part) and len(part) < _LONG_WORD for part in _PARTS.split(value) if part
    )


def _logins(found: Iterable[KnownSecret]) -> Iterator[KnownSecret]:
    """The passwords in URLs, as they are there and as they are meant."""
    for name, value in found:
        for login in _LOGIN.finditer(value[:LONGEST]):
            yield from ((name, password) for password in dict.fromkeys((login[1], unquote(login[1]))))


class MarkError(ValueError):
    """A text holds the mark of a secret whose value cannot be put in its place; the message says why."""


class RedactedText(NamedTuple):
    """A text as it may be shown."""

    text: str
    marks: tuple[tuple[str, str], ...] = ()
    """Each mark in it, in order, and what really is there; a mark that is part of the text stands for itself."""

    def restored(self, text: str) -> str:
        """`text`, which was made from this one, with what its marks stand for. Raises `MarkError`."""
        real: dict[str, list[str]] = {}
        for mark, whole in self.marks:
            real.setdefault(mark, []).append(whole)
        used = SECRET_MARK.findall(text)
        for mark in dict.fromkeys(used):
            if mark not in real:
                raise MarkError(f"{mark} replaces a value that you may not see, and the old text does not contain it")
            if len(set(real[mark])) > 1 and used.count(mark) != len(real[mark]):
                raise MarkError(f"{mark} replaces different texts in this file: keep each where it is")
        left = {mark: iter(wholes if len(set(wholes)) > 1 else wholes * len(used)) for mark, wholes in real.items()}
        return SECRET_MARK.sub(lambda found: next(left[found[0]]), text)


class Redactor:
    """Replaces known values by `[secret:NAME]`, also where they are encoded, quoted or broken by white space.

    Two passes, both linear: the text without its white space is searched for each form of each value; only for those
    that are in it a pattern finds the places.
    """

    def __init__(self, known: Iterable[KnownSecret] = ()) -> None:
        """If two names have the same value, the first is shown."""
        self._forms: dict[bytes, bytes] = {}
        for name, value in known:
            mark = f"[secret:{re.sub(r'[^A-Za-z0-9_.-]', '_', name)[:100]}]".encode()
            for form in _forms_of(value):
                self._forms.setdefault(form, mark)
        self._longest = max(map(len, self._forms), default=0)
        self._begin: dict[bytes, set[bytes]] = {}
        for form in self._forms:
            for length in range(1, _HEAD + 1):
                self._begin.setdefault(form[:length], set()).add(form)
        self._patterns: dict[bytes, re.Pattern[bytes]] = {}

    def __bool__(self) -> bool:
        """Whether there is anything to hide."""
        return bool(self._forms)

    def text(self, text: str) -> str:
        """The text as it may be shown; the same object where nothing is to be hidden."""
        if not self._forms or len(text) < SHORTEST:
            return text
        content = text.encode("utf-8", "surrogatepass")
        hidden = self.content(content)
        return text if hidden is content else hidden.decode("utf-8", "surrogatepass")

    def content(self, content: bytes) -> bytes:
        """The same of bytes."""
        places = self._places(content)
        return _replaced(content, places) if places else content

    def shown(self, text: str) -> RedactedText:
        """The text as it may be shown, with what it takes to put the values back."""
        content = text.encode("utf-8", "surrogatepass")
        found = [(match.start(), match.end(), match[0]) for match in _MARKS.finditer(content)]
        places = self._places(content, found)
        if not places:
            return RedactedText(text)
        marks = tuple(
            (mark.decode(), content[start:end].decode("utf-8", "surrogatepass")) for start, end, mark in places
        )
        return RedactedText(_replaced(content, places).decode("utf-8", "surrogatepass"), marks)

    def whole(self, value: T) -> T:
        """A value with every text in it as it may be shown: models, mappings, sequences; keys are kept."""
        return each_text(value, self.text) if self._forms else value

    def stream(self) -> "StreamRedactor":
        """For what comes in pieces."""
        return StreamRedactor(self)

    def _places(self, content: bytes, more: Iterable[tuple[int, int, bytes]] = ()) -> list[tuple[int, int, bytes]]:
        """Start, end and mark of every place to hide, in order, apart from each other; `more` give way to values."""
        bare = content.translate(None, _SPACE) if self._forms else b""
        found = [form for form in self._forms if form in bare]
        places = [
            (match.start(), match.end(), self._forms[form])
            for form in found
            for match in self._pattern(form).finditer(content)
        ]
        return _apart([*places, *more])

    def _pattern(self, form: bytes) -> re.Pattern[bytes]:
        if form not in self._patterns:
            self._patterns[form] = re.compile(_GAP.join(re.escape(form[at : at + 1]) for at in range(len(form))))
        return self._patterns[form]

    def begun(self, content: bytes) -> tuple[bytes, bytes]:
        """The beginning of a stream as it may be shown, and its rest, which may be the beginning of a value."""
        if not self._forms:
            return content, b""
        held, start = self._held(content.translate(None, _SPACE)[-self._longest :]), len(content)
        while held:
            start -= 1
            held -= content[start] not in _SPACE
        if len(content) - start > _MOST_HELD + self._longest:  # white space without end
            start = len(content)
        places = self._places(content)
        start = next((first for first, last, _ in places if first < start < last), start)
        shown = _replaced(content[:start], [place for place in places if place[1] <= start])
        return shown, content[start:]

    def _held(self, bare: bytes) -> int:
        """The length of the longest beginning of a form that `bare` ends with, and that is not the whole form."""
        size = len(bare)
        for length in range(min(size, self._longest - 1), 0, -1):
            forms = self._begin.get(bare[size - length : size - length + _HEAD])
            if forms and any(length < len(form) and form.startswith(bare[-length:]) for form in forms):
                return length
        return 0


_MARKS: Final = re.compile(SECRET_MARK.pattern.encode())

NOTHING: Final = Redactor()
"""Where no secret is known."""


class StreamRedactor:
    """Redacts what comes in pieces, also where a value lies across them; it holds back what may be the start of one."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """The text that can be shown so far."""
        shown, self._held = self._redactor.begun(self._held + piece)
        return shown

    def end(self) -> bytes:
        """The rest."""
        held, self._held = self._held, b""
        return self._redactor.content(held)


def _forms_of(value: str) -> Iterator[bytes]:
    """The value as it may be in a text, without white space; each line of a long one by itself as well."""
    for line in {value, *(line.strip() for line in value.splitlines() if not line.startswith("-----"))}:
        if len(line.strip()) < (SHORTEST if line == value else 2 * SHORTEST):
            continue
        raw = line.encode("utf-8", "surrogateescape")
        text = raw.decode("utf-8", "replace")
        quoted = {quote(raw, safe=""), quote(raw), quote_plus(raw)}
        written = {
            json.dumps(text)[1:-1],
            json.dumps(text, ensure_ascii=False)[1:-1],
            repr(text)[1:-1],
            html.escape(text),
        }
        escapes = {re.sub("%..", lambda found: found[0].lower(), one) for one in quoted}
        forms = [raw, *_base64_of(raw), raw.hex().encode(), raw.hex().upper().encode()]
        for form in (*forms, *(one.encode() for one in quoted | escapes | written)):
            bare = form.translate(None, _SPACE)
            if len(bare) >= SHORTEST:
                yield bare


def _base64_of(raw: bytes) -> Iterator[bytes]:
    """The digits that only the value decides, wherever in a longer text it begins."""
    for before in range(3):
        bits = 8 * (before + len(raw))
        digits = base64.b64encode(bytes(before) + raw)[-(-8 * before // 6) : bits // 6]
        yield digits
        yield digits.translate(bytes.maketrans(b"+/", b"-_"))


def _apart(places: Sequence[tuple[int, int, bytes]]) -> list[tuple[int, int, bytes]]:
    """In order; of places that overlap one, which has the mark of the longest."""
    apart: list[tuple[int, int, bytes]] = []
    widest = 0
    for start, end, mark in sorted(places, key=lambda place: (place[0], -place[1])):
        if apart and start < apart[-1][1]:
            first, last, known = apart[-1]
            wider = end - start > widest
            widest = max(widest, end - start)
            apart[-1] = (first, max(last, end), mark if wider else known)
        else:
            apart.append((start, end, mark))
            widest = end - start
    return apart


def _replaced(content: bytes, places: Iterable[tuple[int, int, bytes]]) -> bytes:
    parts, at = list[bytes](), 0
    for start, end, mark in places:
        parts += [content[at:start], mark]
        at = end
    return b"".join([*parts, content[at:]])
