"""Lexer and parser of shell command lines: the simple commands that a shell would run."""

import re
from dataclasses import dataclass, field
from typing import Final

DYNAMIC: Final = "\0"
"""Stands in a word for what only the shell can know: a variable, a substitution, an escape of `$'…'`."""

SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"})

_LEADING: Final = frozenset({"!", "{", "}", "if", "then", "elif", "else", "do", "while", "until", "fi", "done", "esac"})
_ARITHMETIC: Final = re.compile(r"\$\(\([^()`]*(?:\([^()`]*\)[^()`]*)*\)\)")
_PLAIN: Final = re.compile(r"[^\\'\"$`#\s<>&;|()]+")
_BLANK: Final = " \t\r"
_DEPTH: Final = 20
"""Substitutions within substitutions that are followed; no one honest nests deeper."""


class UnreadableCommandError(ValueError):
    """The line has an open quote or bracket, or nests too deep: what would run cannot be determined."""


@dataclass(slots=True)
class Simple:
    """One simple command: words with quotes removed, unknown parts as `DYNAMIC`."""

    words: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    """Targets of `>`, `>>`, `>|`, `&>` and `<>`."""
    feed: list["Simple"] = field(default_factory=list)
    """The commands whose output it is given: through a pipe, a substitution in its words, or a file of `<(…)`."""
    script: str = ""
    """Text of here-documents and here-strings on its standard input."""
    texts: list[str] = field(default_factory=list)
    """The words, with unknown parts as they are written: `$NAME`."""
    after: str = ""
    """The operator in front of it: empty for the first, `(` for the first of a subshell, `$(` of a substitution."""
    substituted: bool = False
    """Whether its output is a part of another command's words."""
    start: int = -1
    """Where its first word begins in the line."""
    end: int = -1


def simple_commands(line: str) -> list[Simple]:
    """Every simple command of `line`, substitutions and subshells included, in the order they are read.

    A reading of the POSIX grammar that is good enough to judge by, not to run by: aliases, functions, `eval` and the
    values of variables are not known here. Raises `UnreadableCommandError`.
    """
    return _ShellReader(line).read()


class _ShellReader:
    """One pass over `text`; substitutions are read by readers of their own that share only the result."""

    def __init__(
        self, text: str, outer: "_ShellReader | None" = None, *, after: str = "", at: int | None = None
    ) -> None:
        """`at` is where a text that was taken out of the outer one begins there, as that of backticks is."""
        self.depth: int = outer.depth + 1 if outer else 0
        if self.depth > _DEPTH:
            raise UnreadableCommandError("substitutions are nested too deeply")
        self.text, self.at = text, 0
        self.base: int | None = outer.base if outer else None
        if outer and at is not None:
            self.base = outer.place(at)
        self.substituted: bool = after == "$(" or (outer is not None and outer.substituted)
        self.found: list[Simple] = []
        self.current = Simple(after=after)
        self.pipeline: list[Simple] = []
        self.word: str | None = None
        self.written = ""  # `word` as it goes to `Simple.texts`
        self.begin = 0  # of `word`
        self.quotes = False  # whether any part of `word` was quoted
        self.target: str | None = None
        self.heredocs: list[tuple[Simple, str, bool, bool]] = []

    def read(self, *, until: str = "") -> list[Simple]:
        """Read to the end, or to an unquoted `until`, which is consumed."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == until:
                self.end_command()
                self.at += 1
                return self.found
            self.step(char)
        if until:
            raise UnreadableCommandError(f"{until} is missing")
        self.end_command()
        return self.found

    def step(self, char: str) -> None:
        """Read one plain run, quoted text, operator or substitution."""
        if self.word is None:
            self.begin = self.at
        if char == "\\":
            self.escaped()
        elif char == "'":
            self.put(self.quoted("'"))
        elif char == '"':
            self.double_quoted()
        elif char in "$`":
            self.substitution()
        elif char == "#" and self.word is None:
            self.at = self.find_or_end("\n")
        elif char in _BLANK:
            self.at += 1
            self.end_word()
        elif char in "<>" or self.text.startswith("&>", self.at):
            self.redirection()
        elif char in "\n;&|()":
            self.operator(char)
        else:
            plain = _PLAIN.match(self.text, self.at)
            run = plain[0] if plain else char
            self.at += len(run)
            self.put(run)

    def put(self, text: str, written: str | None = None) -> None:
        self.word = (self.word or "") + text
        self.written += text if written is None else written

    def find_or_end(self, text: str) -> int:
        found = self.text.find(text, self.at)
        return len(self.text) if found < 0 else found

    def escaped(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        self.quotes = True
        if following != "\n":
            self.put(following)

    def quoted(self, mark: str) -> str:
        """The text up to the closing `mark`, which is consumed with the opening one."""
        end = self.text.find(mark, self.at + 1)
        if end < 0:
            raise UnreadableCommandError(f"{mark} is not closed")
        inner, self.at = self.text[self.at + 1 : end], end + 1
        self.quotes = True
        return inner

    def double_quoted(self) -> None:
        self.put("")
        self.quotes = True
        self.at += 1
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in tuple('$`"\\\n'):
                self.escaped()
            elif char in "$`":
                self.substitution()
            else:
                self.at += 1
                self.put(char)
        raise UnreadableCommandError('" is not closed')

    def substitution(self) -> None:
        """`$(…)`, backticks, `${…}`, `$NAME`, `$'…'`: commands in it are found, its value is not known."""
        start = self.at
        following = self.text[self.at + 1 : self.at + 2]
        if self.text[self.at] == "`":
            match = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL).match(self.text, self.at)
            if match is None:
                raise UnreadableCommandError("` is not closed")
            self.at = match.end()
            inner = re.sub(r"\\([`\\$])", r"\1", match[1])
            self.adopt(_ShellReader(inner, self, after="$(", at=start).read())
        elif match := _ARITHMETIC.match(self.text, self.at):
            self.at = match.end()
        elif following == "(":
            self.at += 2
            self.adopt(self.nested("$("))
        elif following == "'":
            match = re.compile(r"\$'(?:[^'\\]|\\.)*'", re.DOTALL).match(self.text, self.at)
            if match is None:
                raise UnreadableCommandError("' is not closed")
            self.at = match.end()
        elif following == "{":
            end = self.text.find("}", self.at)
            if end < 0:
                raise UnreadableCommandError("} is missing")
            inner, self.at = self.text[self.at + 2 : end], end + 1
            if "`" in inner or "$(" in inner:
                raise UnreadableCommandError("a substitution within ${…}")
        elif match := re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])").match(self.text, self.at):
            self.at = match.end()
            self.put(match[0] if match[0] in ("$HOME", "$PWD", "$!") else DYNAMIC, match[0])
            return
        else:
            self.at += 1
            self.put("$")
            return
        self.put(DYNAMIC, self.text[start : self.at])

    def place(self, at: int) -> int:
        """Where in the line something is."""
        return at if self.base is None else self.base

    def nested(self, after: str) -> list[Simple]:
        """Commands up to the closing bracket; the opening one is behind us."""
        inner = _ShellReader(self.text, self, after=after)
        inner.at = self.at
        found = inner.read(until=")")
        self.at = inner.at
        return found

    def adopt(self, found: list[Simple]) -> None:
        self.found += found
        self.current.feed += found

    def end_word(self) -> None:
        if self.word is None:
            return
        word, written, quoted, operator = self.word, self.written, self.quotes, self.target
        self.word, self.written, self.quotes, self.target = None, "", False, None
        if operator is None:
            if self.current.words or word not in _LEADING:
                self.start_command(self.begin)
                self.current.words.append(word)
                self.current.texts.append(written)
        elif operator in ("<<", "<<-"):
            self.heredocs.append((self.current, word, operator == "<<-", quoted))
        elif operator == "<<<":
            self.current.script += word
        elif operator != "<":
            self.current.writes.append(word)

    def start_command(self, at: int) -> None:
        if self.current.start < 0:
            self.current.start = self.place(at)

    def end_command(self, operator: str = "") -> None:
        self.end_word()
        if self.target is not None:
            raise UnreadableCommandError(f"{self.target} leads nowhere")
        command = self.current
        command.end = self.place(self.at)
        command.substituted = self.substituted
        following = command.after if operator == "\n" and not command.words else operator.replace("\n", ";")
        self.current = Simple(after=following)
        if command.words or command.writes:
            self.found.append(command)
            self.pipeline.append(command)
        if operator in ("|", "|&"):
            self.current.feed = list(self.pipeline)
        else:
            self.pipeline = []

    def operator(self, char: str) -> None:
        """End of a command, or a subshell."""
        self.end_word()
        if char == "(":
            self.at += 1
            found = self.nested("(")
            for command in found:
                command.feed = [*self.current.feed, *command.feed]
            self.found += found
            self.pipeline += found
            if self.current.words:
                self.end_command("(")  # the head of a function: what follows is its body
        elif char == ")":
            self.end_command(";")  # the bracket of a `case` pattern
            self.at += 1
        else:
            pair = self.text[self.at : self.at + 2]
            operator = pair if pair in ("||", "&&", "|&", ";;") else char
            self.end_command(operator)
            self.at += len(operator)
            if char == "\n":
                self.read_heredocs()

    def redirection(self) -> None:
        if self.word is not None and self.word.isdigit():
            self.word, self.written = None, ""  # the number of the descriptor
        self.end_word()
        self.start_command(self.at)
        match = re.compile(r"&>>?|<<<|<<-?|<>|<&|<\(|>>|>\||>&|>\(|<|>").match(self.text, self.at)
        operator = match[0] if match else ">"
        self.at += len(operator)
        if operator in ("<(", ">("):
            start = self.at - len(operator)
            self.adopt(self.nested("$("))
            self.put(DYNAMIC, self.text[start : self.at])
        elif operator in ("<&", ">&") and (number := re.compile(r"[0-9]+-?|-").match(self.text, self.at)):
            self.at = number.end()
        else:
            self.target = "<" if operator == "<&" else operator

    def read_heredocs(self) -> None:
        """Bodies start on the line after the one that announced them."""
        for command, mark, tabs, quoted in self.heredocs:
            ending = re.compile((r"^\t*" if tabs else "^") + re.escape(mark) + "$", re.MULTILINE).search(
                self.text, self.at
            )
            body = self.text[self.at : ending.start() if ending else len(self.text)]
            self.at = min(ending.end() + 1, len(self.text)) if ending else len(self.text)
            command.script += body
            if not quoted:
                self.found += self.substitutions(body)
        self.heredocs = []

    def substitutions(self, body: str) -> list[Simple]:
        """The commands in the `$(…)` and backticks of an unquoted here-document; its other text is not read."""
        reader = _ShellReader('"' + body.replace('"', " ") + '"', self, at=self.at)
        reader.double_quoted()
        return reader.found
