"""The environment variables of a child process."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from kotef.redaction import SECRET_NAME

_PASSED: Final = re.compile(
    r"""
    PATH | HOME | USER | LOGNAME | SHELL | TMPDIR | TZ | LANG | LANGUAGE | LC_\w+ | HOSTNAME | XDG_\w+
    | SSL_CERT_(?:FILE|DIR) | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE | NODE_EXTRA_CA_CERTS | GIT_SSL_CAINFO
    | PIP_CERT | UV_(?:NATIVE_TLS|SYSTEM_CERTS) | npm_config_cafile | NODE_USE_SYSTEM_CA
    | (?i:npm_config_registry) | PIP_(?:EXTRA_)?INDEX_URL | UV_(?:DEFAULT_INDEX|INDEX|(?:EXTRA_)?INDEX_URL)
    | SOURCE_DATE_EPOCH | LD_LIBRARY_PATH | DYLD_LIBRARY_PATH | PKG_CONFIG_PATH | CPATH | LIBRARY_PATH
    | CC | CXX | CFLAGS | CXXFLAGS | CPPFLAGS | LDFLAGS | MAKEFLAGS | CMAKE_\w+
    | WORKON_HOME | VIRTUAL_ENV | PYENV\w* | CONDA\w*
    | PYTHON(?:PATH|HOME|HASHSEED|WARNINGS|UTF8|IOENCODING|PYCACHEPREFIX)
    | PIP_CACHE_DIR | UV_CACHE_DIR | UV_PYTHON(?:_INSTALL_DIR)? | POETRY_(?:HOME|CACHE_DIR|VIRTUALENVS_\w+) | PIPX_\w+
    | NVM\w* | NODE_(?:PATH|OPTIONS|ENV) | COREPACK_HOME | PNPM_HOME | YARN_CACHE_FOLDER | VOLTA_HOME | FNM_\w+
    | BUN_INSTALL | DENO_DIR
    | GO(?:PATH|ROOT|BIN|CACHE|MODCACHE|FLAGS|PROXY|PRIVATE|SUMDB|TOOLCHAIN|OS|ARCH|WORK) | CGO_\w+
    | CARGO_(?:HOME|TARGET_DIR|NET_OFFLINE|BUILD_\w+) | RUSTUP_(?:HOME|TOOLCHAIN) | RUSTFLAGS
    | JAVA_HOME | JDK_HOME | JAVA_TOOL_OPTIONS | MAVEN_(?:HOME|OPTS) | M2_HOME | GRADLE_(?:HOME|USER_HOME|OPTS)
    | ANDROID_(?:HOME|SDK_ROOT)
    | GEM_(?:HOME|PATH) | BUNDLE_(?:PATH|GEMFILE) | RBENV\w* | RUBYOPT | RUBYLIB | PERL5LIB | COMPOSER_HOME
    | DOTNET_ROOT | NUGET_PACKAGES | ASDF_\w+ | MISE_\w+ | SDKMAN_DIR | NIX_\w+
    """,
    re.VERBOSE,
)
"""Where toolchains, registries, caches and certificates are, and the locale. No proxies: they carry logins."""

_PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
PROXIES: Final = (*_PROXIES, *(name.upper() for name in _PROXIES))
"""Proxy variables, for programs with the network that a person chose to start."""

_LOGIN_IN_URL: Final = re.compile(r"://[^/\s@]+@")

_FIXED: Final = {
    "CI": "1",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "",
    "AWS_PAGER": "",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "EDITOR": "true",
    "VISUAL": "true",
    "DEBIAN_FRONTEND": "noninteractive",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "npm_config_update_notifier": "false",
    "npm_config_fund": "false",
    "npm_config_audit": "false",
    "NO_UPDATE_NOTIFIER": "1",
    "ADBLOCK": "1",
    "NEXT_TELEMETRY_DISABLED": "1",
    "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
    "DOTNET_NOLOGO": "1",
    "DO_NOT_TRACK": "1",
    "CARGO_TERM_COLOR": "never",
    "CARGO_TERM_PROGRESS_WHEN": "never",
}
"""No one sits there: no colours, no pager, no editor, no prompt, no notices; output at once, no stray files."""


def child_environment(parent: Mapping[str, str], *, allow: Iterable[str] = ()) -> dict[str, str]:
    """What of the parent's environment a command may see, plus what keeps it from waiting for a person.

    Names that look like secrets (KEY, TOKEN, SECRET, PASSWORD, CREDENTIAL) and values with a login in a URL pass
    only if `allow` names them exactly; what `allow` names also is above the fixed values.
    """
    passed = {name: value for name, value in parent.items() if _may_pass(name, value)}
    named = {name: parent[name] for name in allow if name in parent}
    return passed | _FIXED | named


def _may_pass(name: str, value: str) -> bool:
    return bool(_PASSED.fullmatch(name)) and not SECRET_NAME.search(name) and not _LOGIN_IN_URL.search(value)
