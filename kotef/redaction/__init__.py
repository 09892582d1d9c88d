"""Redaction: the known secrets, and their removal from text."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.redaction.deep_text import encodable
    from kotef.redaction.known_secrets import know, redactor, scope
    from kotef.redaction.leaked_keys import keys_in
    from kotef.redaction.secrets import (
        SECRET_MARK,
        SECRET_NAME,
        KnownSecret,
        MarkError,
        RedactedText,
        Redactor,
        StreamRedactor,
        assigned_secrets,
        secrets_of_env_file,
        secrets_of_environment,
        secrets_of_run,
        secrets_of_settings,
    )
    from kotef.redaction.urls import server_of_url, shown_url
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "deep_text": "encodable",
            "known_secrets": "know redactor scope",
            "leaked_keys": "keys_in",
            "secrets": (
                "KnownSecret MarkError RedactedText Redactor SECRET_MARK SECRET_NAME StreamRedactor "
                "assigned_secrets secrets_of_env_file secrets_of_environment secrets_of_run "
                "secrets_of_settings"
            ),
            "urls": "server_of_url shown_url",
        },
    )

__all__ = [
    "SECRET_MARK",
    "SECRET_NAME",
    "KnownSecret",
    "MarkError",
    "RedactedText",
    "Redactor",
    "StreamRedactor",
    "assigned_secrets",
    "encodable",
    "keys_in",
    "know",
    "redactor",
    "scope",
    "secrets_of_env_file",
    "secrets_of_environment",
    "secrets_of_run",
    "secrets_of_settings",
    "server_of_url",
    "shown_url",
]
