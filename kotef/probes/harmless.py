"""Harmless edits: a test file with something more in it that changes no test."""

import random
import re
from typing import Final

from kotef.probes.oracles.near_values import random_word
from kotef.probes.oracles.tokens import TokenText, dialect_of
from kotef.probes.source_text import SourceText, parsed

_SHELL: Final = (".sh", ".bash", ".bats")
_SHELL_LINE: Final = re.compile(rb"#!.*\b(?:ba|da|z|k)?sh\b")


def harmless_edit(path: str, content: bytes, chance: random.Random) -> bytes | None:
    """The file with a comment at its end; None where that is not surely harmless."""
    is_python = path.endswith((".py", ".pyi"))
    source = SourceText.of_python(content) if is_python else SourceText.of_bytes(content)
    if source is None:
        return None
    word = random_word(chance)
    front = "" if not source.text or source.text.endswith(("\n", "\r")) else "\n"
    if is_python:
        added = f"{front}# {word}\n"
        is_whole = parsed(source.text) is not None and parsed(source.text + added) is not None
    elif dialect := dialect_of(path):
        added = f"{front}// {word}\n"
        is_whole = TokenText.of(dialect, source.text) is not None and not source.text.rstrip().endswith(("\\", "?>"))
    else:
        added = f"{front}# {word}\n"
        is_script = path.endswith(_SHELL) or bool(_SHELL_LINE.match(content))
        is_whole = is_script and not source.text.rstrip().endswith("\\") and "<<" not in source.text
    text = SourceText(source.text + re.sub(r"\r?\n", source.line_end, added), source.encoding, source.mark)
    return text.content() if is_whole else None
