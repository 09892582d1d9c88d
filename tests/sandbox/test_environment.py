import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.sandbox.environment import child_environment


@pytest.mark.parametrize(
    "name",
    ["PATH", "HOME", "LC_ALL", "TZ", "VIRTUAL_ENV", "PYENV_ROOT", "CONDA_PREFIX", "NVM_DIR", "CARGO_HOME", "GOPATH",
     "JAVA_HOME", "XDG_CACHE_HOME", "SSL_CERT_FILE", "npm_config_registry", "UV_DEFAULT_INDEX", "SOURCE_DATE_EPOCH"],
)  # fmt: skip
def test_what_toolchains_need_passes(name: str) -> None:
    assert child_environment({name: "x"})[name] == "x"


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "CONDA_TOKEN", "XDG_SECRET", "LC_KEY",
     "SSH_AUTH_SOCK", "DATABASE_URL", "http_proxy", "HTTPS_PROXY", "GIT_DIR", "KOTEF_COMMAND", "XPATH"],
)  # fmt: skip
def test_secrets_logins_and_strangers_do_not_pass_unless_named(name: str) -> None:
    assert name not in child_environment({name: "x"})
    assert child_environment({name: "x"}, allow=[name])[name] == "x"


def test_a_login_inside_an_allowed_url_does_not_pass() -> None:
    parent = {"GOPROXY": "https://me:hunter2@proxy.example.org", "GOSUMDB": "sum.example.org"}
    parent["PIP_INDEX_URL"] = "https://me:hunter2@registry.example.org/simple"
    assert set(parent) & set(child_environment(parent)) == {"GOSUMDB"}


def test_nobody_sits_at_the_terminal() -> None:
    found = child_environment({"TERM": "xterm-256color", "PAGER": "less", "CI": "false"})
    assert (found["TERM"], found["PAGER"], found["CI"], found["NO_COLOR"]) == ("dumb", "cat", "1", "1")
    assert found["GIT_TERMINAL_PROMPT"] == "0"


def test_a_name_asked_for_stands_above_the_fixed_value_and_a_missing_one_is_not_invented() -> None:
    assert child_environment({"CI": "0"}, allow=["CI"])["CI"] == "0"
    assert "MISSING" not in child_environment({}, allow=["MISSING"])


def test_a_python_child_works_in_it_and_leaves_no_bytecode() -> None:
    script = "import sys, os; print(sys.dont_write_bytecode, 'HOME' in os.environ)"
    done = subprocess.run(
        ["python3", "-c", script], env=child_environment(os.environ), capture_output=True, text=True, check=True
    )
    assert done.stdout == "True True\n"


@given(
    st.text("ABCXDG_", max_size=8),
    st.sampled_from(["KEY", "Token", "SECRET", "password", "CREDENTIAL"]),
    st.text("XYZ_", max_size=4),
)
def test_no_name_that_looks_like_a_secret_ever_passes(before: str, word: str, after: str) -> None:
    name = f"XDG_{before}{word}{after}"
    assert name not in child_environment({name: "x"})
