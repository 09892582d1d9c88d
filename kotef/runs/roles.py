"""The roles in force here, and the endpoint of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from kotef.context.prompts import shipped
from kotef.errors import UsageError
from kotef.models.factory import Endpoint
from kotef.redaction import shown_url
from kotef.runs.config import UserConfig, config_path, is_trusted, untrusted
from kotef.sdd.agents import Company, Layers, Role, Roles, layered, parse_roles, slug, spelled_out
from kotef.sdd.files import Problem, read_file
from kotef.tools.registry import NAMES
from kotef.tools.role_tools import names_of

FILE: Final = "agents.md"
BUILT_IN: Final = "built in"


@dataclass(frozen=True, slots=True)
class Agents:
    """The roles in force, by name, and notices about their files."""

    roles: dict[str, Role]
    notices: tuple[str, ...]
    broken: tuple[tuple[str, Problem], ...] = ()
    """Names of malformed blocks, with their problems."""

    def role(self, name: str) -> Role:
        """The role of this name. UsageError if there is none, or where it names a unknown field."""
        found = self.roles.get(slug(name))
        if found is None:
            others = f"the roles are {', '.join(sorted(self.roles))}"
            problem = next((problem for broken, problem in self.broken if broken == slug(name)), None)
            raise UsageError(str(problem) if problem else f"no role {name}", hint=others)
        if found.unknown:
            known = ", ".join(field for field in Role.model_fields if field not in _OURS)
            raise UsageError(
                f"{found.source}: the role {found.name} names {', '.join(found.unknown)}, which kotef does not know",
                hint=f"known are {known}",
            )
        return found

    def company(self, coder: str) -> Company:
        """The roles of a run whose coder has this role."""
        return Company(coder=self.role(coder), planner=self.role("planner"), reviewer=self.role("reviewer"))


_OURS: Final = frozenset({"name", "prompt", "source", "unknown"})


def read_agents(root: Path, config: UserConfig, *, trust: bool, at: Path | None = None) -> Agents:
    """The roles of `.sdd/agents.md` over those of the user's file over the built-in ones; `at` as in `config`."""
    built_in = parse_roles((shipped() / FILE).read_text(encoding="utf-8"), BUILT_IN)
    user, repository = _users(), _repositorys(at or root)
    layers = layered(
        [_named(role).model_copy(update={"source": BUILT_IN}) for role in built_in.roles],
        [_named(role) for role in user.roles],
        [_named(role) for role in repository.roles],
        trusted=is_trusted(root, config, trust=trust, at=at),
    )
    problems = (*built_in.problems, *user.problems, *repository.problems)
    notices = (*map(str, problems), *_ignored(layers, untrusted(root, at=at)), *_missing_tools(layers))
    return Agents(layers.roles, notices, (*repository.broken, *user.broken))


def endpoint_of(role: Role, run: Endpoint, config: UserConfig, env: Mapping[str, str]) -> Endpoint:
    """The endpoint of a role: the endpoint of the run unless it names another that the user has configured.

    No other ever sees a key that was not meant for it. UsageError if it is not configured.
    """
    wanted = role.base_url.rstrip("/")
    if wanted in {"", run.base_url}:
        return replace(run, name=role.model or run.name)
    where = f"{role.source}: the role {role.name} names the endpoint {shown_url(role.base_url)}"
    for name, known in config.endpoints.items():
        url = known.base_url.rstrip("/")
        if wanted not in {name, url}:
            continue
        if not role.model:
            raise UsageError(f"{where}, but no model of it", hint="add `model:` to the role")
        key = env.get(known.api_key_env, "").strip() if known.api_key_env else ""
        if known.api_key_env and not key:
            raise UsageError(f"{where}, whose key is not set", hint=f"set {known.api_key_env}")
        return Endpoint(role.model, url, SecretStr(key) if key else None)
    example = '[endpoints.NAME] base_url = "http://localhost:8080/v1"'
    raise UsageError(f"{where}, which is not configured", hint=f"add {example} to {config_path()}")


def _users() -> Roles:
    path = config_path().with_name(FILE)
    try:
        return parse_roles(path.read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        return Roles((), ())
    except (OSError, UnicodeDecodeError) as error:
        return Roles((), (Problem(path=str(path), line=1, text=f"cannot be read: {error}"),))


def _repositorys(root: Path) -> Roles:
    read = read_file(root, f".sdd/{FILE}")
    found = parse_roles(read.text, f".sdd/{FILE}")
    return found._replace(problems=(*read.problems, *found.problems))


def _named(role: Role) -> Role:
    return spelled_out(role, names_of)


def _ignored(layers: Layers, why: str) -> Sequence[str]:
    if not layers.ignored:
        return ()
    text = "; ".join(f"{', '.join(fields)} of {name}" for name, fields in layers.ignored.items())
    return (f".sdd/{FILE}: {text} ignored: {why}",)


def _missing_tools(layers: Layers) -> Sequence[str]:
    return [
        f"{role.source}: the role {role.name} names the tool {name}, which only MCP servers or extensions could have"
        for role in layers.roles.values()
        for name in role.tools or ()
        if name not in NAMES
    ]
