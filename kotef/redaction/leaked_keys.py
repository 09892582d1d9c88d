"""Detection of text that looks like a forgotten key."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from kotef.redaction.known_secrets import redactor
from kotef.redaction.secrets import secrets_of_environment

_KEYS: Final = {
    "a private key": r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----",
    "an AWS access key": r"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Z0-9])",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{60,251})\b",
    "a GitLab token": r"\bgl(?:pat|dt|rt|ft|soat|ptt)-[A-Za-z0-9_-]{20,}",
    "a Slack token": r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
    "a Google key": r"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
    "a Stripe key": r"\b[rs]k_live_[A-Za-z0-9]{16,}",
    "an npm token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "a PyPI token": r"\bpypi-AgE[A-Za-z0-9_-]{50,}",
    "a key for a model endpoint": r"\bsk-(?:ant-|proj-|or-v1-)?(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{32,}",
    "a Hugging Face token": r"\bhf_[A-Za-z]{34}\b",
}
_FOUND: Final = [(what, re.compile(pattern)) for what, pattern in _KEYS.items()]


class Forgotten(NamedTuple):
    """A place that contains what looks like a key; the key itself is never shown."""

    line: int
    """Among those asked about, from 0."""
    what: str


def keys_in(lines: Sequence[str]) -> Iterator[Forgotten]:
    """Each line that holds a known secret of this workspace, a login with its password, or a key of a well-known form.

    What stands for a password and is none (`changeme`, `xxxxxxxx`) is passed over.
    """
    alone = False
    for number, line in enumerate(lines):
        if redactor().text(line) != line:
            alone = True
            yield Forgotten(number, "the value of a secret")
        elif what := next((what for what, pattern in _FOUND if pattern.search(line)), ""):
            yield Forgotten(number, what)
        elif "@" in line and secrets_of_environment({"": line}):
            yield Forgotten(number, "a password in a URL")
    whole = "\n".join(lines)
    if not alone and redactor().text(whole) != whole:  # broken over several lines
        yield Forgotten(0, "the value of a secret")
