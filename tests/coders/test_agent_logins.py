"""An agent that cannot log in is recognised by what it prints, and one whose task is about logins is not."""

import json

import pytest

from kotef.coders.command.cost import told_by
from kotef.coders.command.login import login_refusal
from kotef.coders.command.presets import PRESETS

CODEX = """\
{"type":"error","message":"Reconnecting... 5/5 (unexpected status 401 Unauthorized: Missing bearer)"}
{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: Incorrect API key provided"}}
"""
QWEN = json.dumps(
    [
        {
            "type": "result",
            "is_error": False,
            "result": "[API Error: 401 Incorrect API key provided: sk-bad.]",
            "stats": {"models": {"m": {"api": {"totalRequests": 1}, "tokens": {"prompt": 0, "candidates": 0}}}},
        }
    ]
)
QWEN_UNSET = json.dumps([{"type": "result", "error": {"message": "No auth type is selected. Please configure one."}}])
COPILOT = """\
Error: No authentication information found.

Copilot can be authenticated with GitHub using an OAuth Token or a Fine-Grained Personal Access Token.
"""
PI = (
    "No API key found for the selected model.\n\nUse /login to log into a provider via OAuth or API key. See:\n  docs\n"
)
CLAUDE = json.dumps({"type": "result", "is_error": True, "result": "Invalid API key · Please run /login", "usage": {}})
AIDER = "litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided\n"
ABOUT_LOGINS = "I could not make test_login pass: the handler answers 401 Unauthorized.\n"


def refusal(name: str, exit_code: int, stdout: str, stderr: str = "") -> str:
    told = told_by(name, stdout, "")
    return login_refusal(exit_code, told, PRESETS.get(name), stdout, stderr, told.words if told else "")


@pytest.mark.parametrize(
    ("name", "exit_code", "stdout", "stderr", "words"),
    [
        ("codex", 1, CODEX, "", "401 Unauthorized: Incorrect API key provided"),
        ("qwen", 0, QWEN, "", "401 Incorrect API key provided"),
        ("qwen", 1, QWEN_UNSET, "", "No auth type is selected"),
        ("copilot", 1, "", COPILOT, "No authentication information found"),
        ("pi", 1, "", PI, "No API key found for the selected model"),
        ("claude", 1, CLAUDE, "", "Invalid API key"),
        ("aider", 0, AIDER, "", "AuthenticationError"),
        ("command", 1, "", "HTTP 403: Forbidden\n", "403: Forbidden"),
        ("command", 2, "you are not logged in\n", "", "not logged in"),
    ],
)
def test_a_refused_login_is_recognised(name: str, exit_code: int, stdout: str, stderr: str, words: str) -> None:
    assert words in refusal(name, exit_code, stdout, stderr)


@pytest.mark.parametrize(
    ("name", "exit_code", "stdout"),
    [
        ("command", 0, ABOUT_LOGINS),
        ("copilot", 0, ABOUT_LOGINS),
        ("command", 1, "AssertionError: expected 401 files\n"),
        ("command", 1, "no credit left\n"),
        ("command", 1, ABOUT_LOGINS + "a line\n" * 30),
        ("aider", 0, "Tokens: 2.4k sent, 212 received.\n" + ABOUT_LOGINS),
        ("aider", 1, "Tokens: 2.4k sent, 212 received.\n" + ABOUT_LOGINS),
    ],
)
def test_a_task_about_logins_and_other_failures_are_not(name: str, exit_code: int, stdout: str) -> None:
    assert refusal(name, exit_code, stdout) == ""
