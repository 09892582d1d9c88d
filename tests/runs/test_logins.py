"""Which values of the files that a program gets are kept from being shown?"""

from pathlib import Path

import pytest

from kotef.runs.logins import secrets_in

KEY = "zq8J2mWx91LkTt55"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".env", f"MSWEA_MODEL_NAME='openai/gpt-4o-mini'\nOPENAI_API_KEY='{KEY}'\n"),
        (".env", f"export OPENAI_API_KEY={KEY}\n"),
        ("a.yml", f"model: gpt-4o-mini\nopenai-api-key: {KEY}  # mine\n"),
        ("a.yml", f"api-key:\n  - gemini={KEY}\n"),
        ("a.yml", f"api-key: [gemini={KEY}, other=changeme]\n"),
        ("a.yml", f'set-env:\n  - "OPENAI_API_KEY={KEY}"\n'),
        ("a.yml", f"api-key:\n# my own\n\n  - gemini={KEY}\n"),
        ("a.yml", f"openai-api-base: https://me:{KEY}@gpt-4o-mini.example/v1\n"),
        ("a.yml", f"extra_headers:\n  Authorization: Bearer {KEY}\n"),
        ("a.toml", f'model = "gpt-4o-mini"\n[mcp.env]\nTOKEN = "{KEY}"\n'),
        ("a.toml", f'[p]\nenv_key = "OPENAI_API_KEY"\nhttp_headers = {{ "X-Key" = "{KEY}" }}\n'),
        ("a.toml", f'broken = \nTOKEN = "{KEY}"\n'),
        ("a.json", f'{{"model": "gpt-4o-mini", "servers": [{{"env": {{"TOKEN": "{KEY}"}}}}]}}'),
        ("a.json", f'{{"headers": {{"Authorization": "Bearer {KEY}"}}}}'),
        ("a.json", f'{{"args": ["--api-key={KEY}", "--model=gpt-4o-mini"]}}'),
        ("a.json", f'{{\n  // mine\n  "apiKey": "{KEY}",\n}}'),
        ("a.json", f'{{"url": "https://h.example/x?token={KEY}"}}'),
        ("CLAUDE.md", f"# Notes\n- API_KEY: {KEY}\n"),
    ],
)
def test_a_key_in_a_file_is_found_and_a_plain_setting_is_none(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    found = set(secrets_in(file))
    assert KEY in found
    assert not found & {"gpt-4o-mini", "openai/gpt-4o-mini", "OPENAI_API_KEY", "changeme"}


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[" * 100_000, b'{"token": 5}', b"TOKEN=\n", b"=" * 9])
def test_a_file_that_cannot_be_read_holds_none(tmp_path: Path, content: bytes) -> None:
    for name in (".env", "a.json", "a.toml", "a.yml"):
        (tmp_path / name).write_bytes(content)
        assert list(secrets_in(tmp_path / name)) == []
    assert list(secrets_in(tmp_path / "missing")) == []


def test_a_key_beside_what_is_no_text_is_found(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"NAME=\xe9\nTOKEN=" + KEY.encode())
    assert list(secrets_in(tmp_path / ".env")) == [KEY]
