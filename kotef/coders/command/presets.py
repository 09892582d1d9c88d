"""Presets for known agents: how to start each, and what it needs from the user's machine.

The flags are those of the version named in each row, by its own `--help` and documentation; a row is data, so another
version is a change of one line. Nothing here is passed on that a row, or a person by `--coder-env`, does not name.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final, Literal

from kotef.sandbox import PROXIES

Tells = Literal["money", "tokens", "nothing"]
"""What a program reports about its cost."""

IDLE: Final = 600.0
"""Seconds a program may be silent: one long thought of a model prints nothing."""


@dataclass(frozen=True, slots=True)
class Preset:
    """One row of the table."""

    name: str
    """The name in `--coder`."""
    version: str
    """The version to which the flags belong."""
    takes: str
    """The option that takes the brief; comes last."""
    flags: tuple[str, ...]
    """No one is asked, nothing is committed, no sandbox inside ours. A value follows its flag after a space."""
    sub: str = ""
    """The subcommand that works without a person."""
    env: tuple[str, ...] = ()
    """Names, or patterns with `*`, of environment variables it gets."""
    copied: tuple[str, ...] = ()
    """Files below the home that it finds as copies: settings. What it writes there is lost."""
    shared: tuple[str, ...] = ()
    """Files below the home that it may read and write: logins, which it renews."""
    folders: tuple[str, ...] = ()
    """Folders below the home that it is installed in, where PATH does not lead to all of it."""
    sets: Mapping[str, str] = field(default_factory=dict)
    """Variables that are set for it."""
    confined: Mapping[str, str] = field(default_factory=dict)
    """The same, only where a sandbox really holds it."""
    if_set: Mapping[str, str] = field(default_factory=dict)
    """Variable → words for the shell that are added if the variable is set; what a person writes comes after them."""
    leaves: tuple[str, ...] = ()
    """Globs of files it leaves in the workspace that are not a part of the work; new ones are removed."""
    own_index: bool = False
    """Whether it adds new files to git's index, and so gets an index of its own."""
    tells: Tells = "nothing"
    idle: float = IDLE


_OPENAI: Final = ("OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_BASE_URL")
_ANTHROPIC: Final = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL")
_OTHERS: Final = ("GEMINI_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY", "OPENROUTER_API_KEY", "OLLAMA_API_BASE")

PRESETS: Final[Mapping[str, Preset]] = {
    preset.name: preset
    for preset in (
        Preset(
            name="aider",
            version="0.86",
            takes="--message-file {brief}",
            flags=(
                *("--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-gitignore"),
                *("--no-check-update", "--no-show-release-notes", "--no-analytics", "--no-pretty", "--no-stream"),
                *("--no-fancy-input", "--no-suggest-shell-commands", "--no-detect-urls", "--disable-playwright"),
                *("--no-show-model-warnings", "--chat-history-file /dev/null", "--input-history-file /dev/null"),
            ),
            env=(*_OPENAI, *_ANTHROPIC, *_OTHERS, "AIDER_*"),
            copied=(".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json"),
            sets={  # without an identity it writes one into git's configuration, which it may not
                "GIT_CONFIG_COUNT": "2",
                "GIT_CONFIG_KEY_0": "user.name",
                "GIT_CONFIG_VALUE_0": "aider",
                "GIT_CONFIG_KEY_1": "user.email",
                "GIT_CONFIG_VALUE_1": "aider@localhost",
            },
            leaves=(".aider*",),
            own_index=True,
            tells="money",
        ),
        Preset(
            name="codex",
            version="0.169",
            sub="exec",
            takes="- < {brief}",
            flags=(
                "--dangerously-bypass-approvals-and-sandbox",
                *("--skip-git-repo-check", "--ephemeral", "--json", "--color never"),
            ),
            env=("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY"),
            if_set={  # it ignores the variable, and takes an address only from its configuration
                "OPENAI_BASE_URL": '-c model_provider=endpoint -c "model_providers.endpoint={name=\\"endpoint\\",'
                'base_url=\\"$OPENAI_BASE_URL\\",env_key=\\"OPENAI_API_KEY\\",wire_api=\\"responses\\"}"',
            },
            copied=(".codex/config.toml", ".codex/AGENTS.md"),
            shared=(".codex/auth.json",),
            tells="tokens",
        ),
        Preset(
            name="claude",
            version="2.1",
            takes="< {brief}",
            flags=("--print", "--dangerously-skip-permissions", "--no-session-persistence", "--output-format json"),
            env=(*_ANTHROPIC, "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_*"),
            copied=(".claude.json", ".claude/settings.json", ".claude/CLAUDE.md"),
            shared=(".claude/.credentials.json",),
            folders=(".claude/local", ".local/share/claude"),
            sets={"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
            confined={"IS_SANDBOX": "1"},
            tells="money",
        ),
        Preset(
            name="gemini",
            version="0.61",
            takes="--prompt {brief_text}",
            flags=("--yolo", "--skip-trust", "--sandbox=false", "--output-format json"),
            env=("GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_API_KEY", "GOOGLE_CLOUD_*", "GOOGLE_GENAI_*"),
            copied=(".gemini/settings.json", ".gemini/google_accounts.json", ".gemini/GEMINI.md"),
            shared=(".gemini/oauth_creds.json",),
            tells="tokens",
        ),
        Preset(
            name="mini",
            version="2.4",
            takes="--output {account} --task {brief_text}",
            flags=("--yolo", "--exit-immediately"),
            env=(*_OPENAI, *_ANTHROPIC, *_OTHERS, "MSWEA_*"),
            copied=(".config/mini-swe-agent/.env",),
            sets={"MSWEA_CONFIGURED": "true", "MSWEA_SILENT_STARTUP": "1"},
            tells="money",
        ),
        Preset(
            name="opencode",
            version="1.18",
            sub="run",
            takes="{brief_text}",
            flags=("--auto", "--format json"),
            env=(*_OPENAI, *_ANTHROPIC, *_OTHERS, "OPENCODE_*"),
            copied=(".config/opencode/opencode.json", ".config/opencode/opencode.jsonc", ".config/opencode/AGENTS.md"),
            shared=(".local/share/opencode/auth.json",),
            sets={"OPENCODE_DISABLE_AUTOUPDATE": "1"},
            tells="money",
        ),
        Preset(
            name="kilo",
            version="7.7",
            sub="run",
            takes="{brief_text}",
            flags=("--auto", "--format json"),
            env=(*_OPENAI, *_ANTHROPIC, *_OTHERS, "KILO_*"),
            copied=(".config/kilo/kilo.json", ".config/kilo/kilo.jsonc", ".config/kilo/AGENTS.md"),
            shared=(".local/share/kilo/auth.json",),
            tells="money",
        ),
        Preset(
            name="qwen",
            version="0.15",
            takes="{brief_text}",
            flags=("--yolo", "--output-format json"),
            env=("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY", "QWEN_*"),
            copied=(".qwen/settings.json", ".qwen/QWEN.md"),
            shared=(".qwen/oauth_creds.json",),
            tells="tokens",
        ),
        Preset(
            name="copilot",
            version="1.0",
            takes="--prompt {brief_text}",
            flags=("--allow-all-tools", "--no-ask-user", "--no-auto-update", "--no-color", "--output-format json"),
            env=("COPILOT_GITHUB_TOKEN", "COPILOT_GH_HOST", "COPILOT_MODEL", "COPILOT_PROVIDER_*"),
            copied=(".copilot/config.json", ".copilot/settings.json"),
        ),
        Preset(
            name="pi",
            version="0.73",
            takes="{brief_text}",
            flags=("--print", "--no-session", "--mode json"),
            env=(*_OPENAI, *_ANTHROPIC, *_OTHERS, "PI_*"),
            copied=(".pi/agent/settings.json", ".pi/agent/models.json", ".pi/agent/AGENTS.md"),
            shared=(".pi/agent/auth.json",),
            tells="money",
        ),
        Preset(
            name="cline",
            version="3.0",
            takes="{brief_text}",
            flags=("--json", "--auto-approve true"),
            env=("CLINE_*", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"),
            shared=(".cline/data/settings/providers.json",),
            tells="money",
        ),
    )
}
"""By name; the name is that of the program, too."""


def names_passed(preset: Preset | None, more: Iterable[str], env: Iterable[str]) -> tuple[str, ...]:
    """The names of `env` that a program gets beyond the usual ones: by its row, and by those a person adds."""
    patterns = (*(preset.env if preset else ()), *PROXIES)
    wanted = set(more)
    return tuple(sorted(name for name in env if name in wanted or any(fnmatchcase(name, one) for one in patterns)))
