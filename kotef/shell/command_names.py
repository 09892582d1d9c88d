"""Tables of known command names.

Every table here is data for `policy`; a row is a name, or the leading plain words of a command without its options.
"""

from typing import Final

Row = tuple[str, ...]


def _rows(*lines: str) -> frozenset[Row]:
    """One row per line of words; `a|b` in the last place of a line makes a row of each."""
    return frozenset((*words[:-1], last) for line in lines for words in [line.split()] for last in words[-1].split("|"))


def _names(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


ABROAD: Final = "a run changes nothing outside this workspace; leave publishing to a person"
_PRIVILEGE: Final = "a run cannot have more rights than it was started with"
_MACHINE: Final = "it acts on the machine, not on the workspace"
_STAYS: Final = "it would outlive the run"

ALWAYS_REFUSED: Final[dict[str, str]] = {
    **dict.fromkeys(("sudo", "su", "doas", "pkexec", "runuser", "chroot", "nsenter", "unshare"), _PRIVILEGE),
    **dict.fromkeys(("gh", "glab", "hub", "twine", "ssh", "scp", "sftp", "ftp", "telnet", "kubectl"), ABROAD),
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff", "init", "systemctl", "service", "mount"), _MACHINE),
    **dict.fromkeys(("umount", "fdisk", "parted", "wipefs", "mkswap", "swapoff", "sysctl", "modprobe"), _MACHINE),
    **dict.fromkeys(("useradd", "userdel", "usermod", "passwd", "iptables", "nft", "losetup"), _MACHINE),
    **dict.fromkeys(("crontab", "at", "batch", "launchctl", "tmux", "screen"), _STAYS),
}
"""Name → why no profile lets it run."""

FETCHERS: Final = frozenset({"curl", "wget", "fetch", "http", "aria2c"})
INTERPRETERS: Final = frozenset({"python", "python3", "node", "perl", "ruby", "php", "lua"})
"""Programs that run what they read from standard input when they are given no file."""

WAITS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(("vi", "nvim", "view", "nano", "pico", "joe", "micro", "less", "more", "most"), frozenset[str]()),
    **dict.fromkeys(("htop", "watch", "vimdiff", "dialog", "whiptail", "fzf", "code"), frozenset[str]()),
    "vim": frozenset({"-es", "-Es"}),
    "emacs": frozenset({"-batch", "--batch", "--script"}),
    "gdb": frozenset({"-batch", "--batch"}),
    "top": frozenset({"-b", "-bn1"}),
}
"""Editors and pagers that wait for a person → the options with which they do not."""

WRAPPERS: Final[dict[Row, tuple[frozenset[str], int]]] = {
    ("env",): (frozenset({"-u", "--unset", "-C", "--chdir"}), 0),
    ("timeout",): (frozenset({"-k", "--kill-after", "-s", "--signal"}), 1),
    ("nice",): (frozenset({"-n"}), 0),
    ("ionice",): (frozenset({"-c", "-n"}), 0),
    ("stdbuf",): (frozenset({"-i", "-o", "-e"}), 0),
    ("time",): (frozenset({"-f", "-o"}), 0),
    ("exec",): (frozenset({"-a"}), 0),
    ("xargs",): (frozenset({"-n", "-I", "-P", "-d", "-L", "-s", "-a", "-E"}), 0),
    **{
        (name,): (frozenset[str](), 0)
        for name in ("nohup", "setsid", "command", "builtin", "npx", "bunx", "caffeinate")
    },
    **{(name, "run"): (frozenset({"--with", "--extra", "--group", "-p", "--python"}), 0) for name in ("uv", "poetry")},
    **{(name, "run"): (frozenset[str](), 0) for name in ("pipenv", "pdm", "hatch", "rye", "coverage")},
    **{(name, "exec"): (frozenset[str](), 0) for name in ("bundle", "npm", "pnpm", "yarn")},
}
"""Commands that only run another one → their options that take a value, and the words before the other's name."""

PUBLISHES: Final = _rows(
    "npm publish|unpublish|login|adduser|token|deprecate|dist-tag|owner",
    "pnpm publish|login",
    "yarn publish|login|npm",
    "bun publish",
    "cargo publish|yank|login|owner",
    "poetry publish",
    "uv publish",
    "pdm publish",
    "hatch publish",
    "flit publish",
    "gem push|yank|owner",
    "docker push|login",
    "podman push|login",
    "helm push",
    "dotnet nuget",
    "mvn deploy",
    "gradle publish",
    "./gradlew publish",
    "terraform apply|destroy",
    "make publish|deploy|release",
    "just publish|deploy|release",
    "npm run publish|deploy|release",
)

INSTALLS: Final = _rows(
    "pip install|uninstall|download",
    "uv add|remove|sync|tool",
    "uv pip install|uninstall|sync",
    "pipx install|run|inject|uninstall",
    "poetry add|remove|install|update",
    "pipenv install|uninstall|update|sync",
    "pdm add|remove|install|update|sync",
    "conda install|create|update|remove",
    "mamba install|create|update|remove",
    "npm install|i|add|ci|update|uninstall|remove",
    "pnpm install|i|add|update|remove|dlx",
    "yarn install|add|remove|upgrade|dlx",
    "bun install|i|add|remove|update",
    "apt install|remove|purge|update|upgrade",
    "apt-get install|remove|purge|update|upgrade|dist-upgrade",
    "dnf install|remove|update|upgrade",
    "yum install|remove|update",
    "zypper install|remove|update",
    "apk add|del|update",
    "brew install|uninstall|upgrade|update",
    "port install|uninstall",
    "pacman|snap|flatpak|dpkg|rpm|uvx|corepack|ensurepip",
    "cargo install|add|remove|update",
    "rustup install|update|toolchain|component|target",
    "go install|get",
    "go mod tidy|download",
    "gem install|uninstall|update",
    "bundle install|add|update",
    "composer install|require|update|remove",
    "dotnet add|restore",
    "nvm|pyenv install",
)

BUILTINS: Final = _names(
    ": [ [[ cd pushd popd export set unset ulimit umask wait jobs exit return shift local declare readonly trap",
    "type hash let read getopts for case select in break continue true false test echo printf pwd times shopt",
    "alias command",
)

HARMLESS: Final = _names(
    "ls dir cat head tail nl tac wc grep egrep fgrep rg ag ack find fd tree stat file du df sort uniq cut tr rev",
    "diff cmp comm paste column join expand fold fmt which whereis whatis basename dirname realpath readlink date",
    "printenv env id whoami uname hostname nproc sleep seq md5sum sha1sum sha256sum sha512sum cksum xxd hexdump",
    "od strings jq yq ps pytest py.test unittest doctest tox nox mypy pyright ruff flake8 pylint pyflakes",
    "pycodestyle black isort bandit compileall py_compile coverage jest vitest mocha ava tap eslint tsc prettier",
    "biome stylelint ctest ninja rspec rubocop phpunit phpstan shellcheck bats gofmt golangci-lint staticcheck",
    "rustfmt clang-format clang-tidy javac",
)
"""Names that only read, or only test: any words may follow."""

HARMLESS_WITH: Final = _rows(
    "pip list|show|freeze|check|index|config|debug",
    "uv tree|version",
    "uv pip list|show|freeze|check|tree",
    "poetry show|check|env",
    "npm test|t|ls|list|view|outdated|root|prefix|bin",
    "npm run test|lint|build|check|typecheck|types|format|unit",
    "pnpm test|t|ls|list|lint|build|typecheck",
    "pnpm run test|lint|build|check|typecheck",
    "yarn test|list|lint|build|typecheck|why",
    "yarn run test|lint|build|check|typecheck",
    "bun test",
    "go test|build|vet|fmt|version|list|env|doc",
    "cargo test|t|check|c|build|b|clippy|fmt|nextest|bench|tree|metadata|doc",
    "make test|tests|check|lint|build|all|types|typecheck",
    "just test|tests|check|lint|build",
    "mvn test|verify|compile|package|test-compile",
    "gradle test|check|build|tasks",
    "./gradlew test|check|build|tasks",
    "gradlew test|check|build|tasks",
    "dotnet test|build",
    "swift test|build",
    "mix test|compile",
    "sbt test|compile",
    "rake test|spec",
    "meson test",
    "hatch test|fmt",
)

GIT_READS: Final = _names(
    "status diff log show blame annotate ls-files ls-tree grep rev-parse describe shortlog cat-file merge-base",
    "name-rev rev-list whatchanged for-each-ref show-ref show-branch diff-tree diff-index diff-files check-ignore",
    "check-attr count-objects range-diff cherry version help var",
)

GIT_LISTS: Final[dict[str, tuple[frozenset[str], frozenset[str]]]] = {
    "branch": (
        frozenset({""}),
        frozenset({"-a", "-r", "-v", "-vv", "--list", "-l", "--show-current", "--contains", "--all", "--merged"}),
    ),
    "tag": (frozenset({""}), frozenset({"-l", "--list", "-n", "--contains", "--points-at"})),
    "remote": (frozenset({"", "show", "get-url"}), frozenset({"-v", "--verbose"})),
    "stash": (frozenset({"list", "show"}), frozenset()),
    "worktree": (frozenset({"list"}), frozenset()),
    "reflog": (frozenset({"", "show"}), frozenset()),
    "submodule": (frozenset({"", "status", "summary"}), frozenset()),
    "config": (frozenset({"get", "list"}), frozenset({"--get", "--get-all", "--list", "-l", "--get-regexp"})),
    "notes": (frozenset({"", "list", "show"}), frozenset()),
    "bundle": (frozenset({"list-heads", "verify"}), frozenset()),
}
"""Git commands that list with these words or options and write without them → (first plain words, '' for
none at all; options)."""
