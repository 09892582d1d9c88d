"""Ordinary projects simply work in bwrap: what the toolchain can do outside it can do inside.

Each is run outside first: what this machine lacks (a plugin in the local repository, a package) is no fault of the
sandbox, and is skipped with its reason.
"""

import os
import pwd
import shutil
import sys
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from support.confined import shell
from support.isolation import load_plugins

from kotef.sandbox.sandbox import OFF, Sandbox

Make = Callable[..., Sandbox]
Works = Callable[..., str]

LIBRARY = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "{name}"
version = "1.0"
[tool.setuptools]
py-modules = ["{name}"]
"""

POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId><version>1</version>
  <properties><maven.compiler.release>11</maven.compiler.release></properties>
  <build><plugins><plugin>
    <artifactId>maven-compiler-plugin</artifactId><version>{version}</version>
  </plugin></plugins></build>
</project>
"""


@pytest.fixture
def real_home(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's own, where toolchains are; commands only read it."""
    home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    monkeypatch.setenv("HOME", str(home))
    load_plugins(monkeypatch)
    return home


@pytest.fixture
def works(make: Make, project: Path) -> Works:
    """Runs a command line outside and then in bwrap; skips where it does not work outside; returns what it printed."""

    def run(
        command: str,
        *,
        cwd: Path = project,
        root: Path = project,
        clean: str = "true",
        public: Collection[str] = (),
    ) -> str:
        outside = shell(f"( {command} ) && {clean}", OFF, cwd, timeout=300)
        if outside.exit_code:
            pytest.skip(f"{command}: does not work outside either: {(outside.stdout + outside.stderr)[-200:]}")
        inside = shell(command, make("bwrap", root, public=public), cwd, timeout=300)
        assert inside.exit_code == 0, inside.stdout[-2000:] + inside.stderr[-2000:]
        return inside.stdout

    return run


def _needs(*programs: str) -> None:
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


# --- quick ones ---


def test_a_folder_on_path_that_cannot_be_looked_at_is_passed_over(
    works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user's `bin` is one; here a name that the system refuses stands for it, since root may look anywhere."""
    monkeypatch.setenv("PATH", f"/{'x' * 300}/bin:{os.environ['PATH']}")

    assert works("echo works") == "works\n"


@pytest.mark.usefixtures("real_home")
def test_interpreters_below_the_home_run(works: Works) -> None:
    """Kotef's own here may be one of pyenv, through a virtual environment below `/tmp`."""
    said = works(f"{sys.executable} -c 'import json, ssl, sqlite3, sys; print(sys.prefix)'")

    assert said.strip() == sys.prefix


@pytest.mark.usefixtures("real_home")
def test_node_and_a_program_of_node_modules_run(works: Works, project: Path) -> None:
    _needs("node")
    _write(project, {"node_modules/tool/t.js": "#!/usr/bin/env node\nconsole.log('ran')\n"})
    (project / "node_modules" / "tool" / "t.js").chmod(0o755)
    (project / "node_modules" / ".bin").mkdir()
    (project / "node_modules" / ".bin" / "tool").symlink_to("../tool/t.js")

    assert works("node_modules/.bin/tool") == "ran\n"


@pytest.mark.usefixtures("real_home")
def test_cargo_and_rustc_are_found(works: Works) -> None:
    _needs("cargo")
    works("cargo --version && rustc --version")


@pytest.mark.usefixtures("real_home")
def test_go_is_found_and_its_cache_can_be_written(works: Works) -> None:
    _needs("go")
    works('go version && mkdir -p "$(go env GOCACHE)" && touch "$(go env GOCACHE)/tried"')


def test_a_virtual_environment_below_a_hidden_folder_runs(
    make: Make, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its packages, its scripts, and the code of a project that is installed in it as editable."""
    environment = _environment(tmp_path / "envs" / "mine")
    _write(tmp_path / "elsewhere", {"helper.py": "VALUE = 42\n"})
    site = next(environment.glob("lib/python*/site-packages"))
    (site / "helper.pth").write_text(f"{tmp_path}/elsewhere\n")
    monkeypatch.setenv("VIRTUAL_ENV", str(environment))
    monkeypatch.setenv("PATH", f"{environment}/bin:{os.environ['PATH']}")

    done = shell("python -c 'import helper, sys; print(helper.VALUE, sys.prefix)'", make("bwrap"), project)

    assert done.stdout.split() == ["42", str(environment)], done.stderr


def test_a_sibling_project_installed_as_editable_is_found_and_cannot_be_changed(
    make: Make, project: Path, tmp_path: Path
) -> None:
    """Through the environment that the project keeps itself."""
    environment = _environment(project / ".venv")
    _write(tmp_path / "sibling", {"helper.py": "VALUE = 42\n", "pyproject.toml": LIBRARY.format(name="helper")})
    site = next(environment.glob("lib/python*/site-packages"))
    (site / "helper.pth").write_text(f"{tmp_path}/sibling\n")

    done = shell(
        f".venv/bin/python -c 'import helper; print(helper.VALUE)'; echo no > {tmp_path}/sibling/helper.py",
        make("bwrap", public={"app.py"}),
        project,
    )

    assert done.stdout == "42\n", done.stderr
    assert (tmp_path / "sibling" / "helper.py").read_text() == "VALUE = 42\n"


def test_an_environment_that_a_link_of_the_project_leads_to_is_found_and_cannot_be_changed(
    make: Make, project: Path, tmp_path: Path
) -> None:
    environment = _environment(tmp_path / "envs" / "mine")
    (project / ".venv").symlink_to(environment)

    done = shell(
        ".venv/bin/python -c 'import sys; print(sys.prefix)'; touch .venv/new",
        make("bwrap", public={"app.py"}),
        project,
    )

    assert done.stdout.split() == [f"{project}/.venv"], done.stderr
    assert not (environment / "new").exists()


@pytest.mark.parametrize(
    ("target", "public"), [("mine", {"app.py", ".venv"}), ("mine", ()), ("", {"app.py"}), ("keys", {"app.py"})]
)
def test_a_link_that_may_be_a_strangers_or_leads_elsewhere_gives_no_access(
    target: str, public: Collection[str], make: Make, project: Path, tmp_path: Path
) -> None:
    """Tracked by git, unknown to git, to the home, to a folder that is no environment."""
    home = Path(os.environ["HOME"])
    _environment(home / "mine")
    (home / "keys").mkdir()
    (home / "keys" / "pyvenv.cfg").touch()
    (home / "pyvenv.cfg").touch()
    (project / ".venv").symlink_to(home / target)

    done = shell("ls .venv/; cat .venv/pyvenv.cfg", make("bwrap", public=public), project)

    assert done.exit_code, done.stdout


def _environment(place: Path) -> Path:
    import venv

    venv.create(place, with_pip=False, symlinks=True)
    return place


# --- whole toolchains ---


@pytest.mark.hostile
@pytest.mark.usefixtures("real_home")
def test_cargo_test_works(works: Works, project: Path) -> None:
    _needs("cargo")
    _write(
        project,
        {
            "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": "#[test]\nfn adds() { assert_eq!(1 + 1, 2); }\n",
        },
    )

    assert "test adds ... ok" in works("cargo test", clean="rm -rf target")


@pytest.mark.hostile
@pytest.mark.usefixtures("real_home")
def test_go_test_works_with_a_server_on_loopback(works: Works, project: Path) -> None:
    _needs("go")
    _write(
        project,
        {
            "go.mod": "module x\n\ngo 1.19\n",
            "x_test.go": 'package x\n\nimport (\n\t"net/http/httptest"\n\t"testing"\n)\n\n'
            "func TestX(t *testing.T) { httptest.NewServer(nil).Close() }\n",
        },
    )

    assert "--- PASS: TestX" in works("go test -v ./...")


@pytest.mark.hostile
@pytest.mark.usefixtures("real_home")
def test_maven_works_offline(works: Works, project: Path, real_home: Path) -> None:
    """With the newest compiler plugin that the local repository holds as a whole."""
    _needs("mvn", "java")
    plugins = (real_home / ".m2/repository/org/apache/maven/plugins/maven-compiler-plugin").glob("3.1?.?/*.jar")
    _write(project, {"src/main/java/A.java": "public class A {}\n"})
    for version in sorted((plugin.parent.name for plugin in plugins), reverse=True):
        _write(project, {"pom.xml": POM.format(version=version)})
        if shell("mvn -o -q compiler:compile", OFF, project).exit_code == 0:
            break

    works("mvn -o -q compiler:compile && test -f target/classes/A.class", clean="rm -rf target")


@pytest.mark.hostile
@pytest.mark.usefixtures("real_home")
def test_npx_runs_a_local_program_and_npm_test_works(works: Works, project: Path) -> None:
    _needs("npx", "npm")
    _write(
        project,
        {
            "package.json": '{"name": "n", "scripts": {"test": "tool"}}',
            "node_modules/tool/package.json": '{"name": "tool", "version": "1.0.0", "bin": "t.js"}',
            "node_modules/tool/t.js": "#!/usr/bin/env node\nconsole.log('ran')\n",
        },
    )
    (project / "node_modules" / "tool" / "t.js").chmod(0o755)
    (project / "node_modules" / ".bin").mkdir()
    (project / "node_modules" / ".bin" / "tool").symlink_to("../tool/t.js")

    assert works("npx tool && npm test --silent") == "ran\nran\n"


@pytest.mark.hostile
@pytest.mark.usefixtures("real_home")
def test_pyenv_chooses_versions_and_makes_environments(works: Works, project: Path) -> None:
    _needs("pyenv")
    versions = shell("pyenv versions --bare", OFF, project).stdout.split()
    if not versions:
        pytest.skip("pyenv has no version")
    works(f"export PYENV_VERSION={versions[-1]}; python -m venv --without-pip v && v/bin/python -V", clean="rm -rf v")


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with uv, tox, pytest-xdist and pytest-cov."""
    import subprocess

    place = tmp_path_factory.mktemp("tools") / "v"
    wanted = ["uv", "tox", "pytest", "pytest-xdist", "pytest-cov", "setuptools"]
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    done = subprocess.run(
        [place / "bin" / "pip", "install", "-q", *wanted], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"pip cannot install {', '.join(wanted)}: {done.stderr.strip()[-200:]}")
    return place


@pytest.fixture
def _with_tools(tools: Path, real_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tools}/bin:{os.environ['PATH']}")


@pytest.mark.hostile
@pytest.mark.usefixtures("_with_tools")
def test_pytest_works_with_xdist_and_cov(works: Works, project: Path) -> None:
    _write(project, {"test_x.py": "import app\n\ndef test_x(tmp_path):\n    (tmp_path / 'f').write_text('x')\n"})

    assert "1 passed" in works("python -m pytest -q -n 2 --cov=app --cov-report=term")


@pytest.mark.hostile
@pytest.mark.usefixtures("_with_tools")
def test_uv_run_works_in_a_synced_project_with_an_editable_sibling(
    works: Works, project: Path, tmp_path: Path, tools: Path
) -> None:
    _write(tmp_path / "sibling", {"helper.py": "VALUE = 42\n", "pyproject.toml": LIBRARY.format(name="helper")})
    _write(project, {"pyproject.toml": LIBRARY.format(name="app")})
    offline = "UV_OFFLINE=1 UV_NO_PROGRESS=1"
    made = shell(
        f"uv venv -q -p {sys.executable} .venv && uv pip install -q --no-build-isolation --no-deps setuptools || true; "
        "uv pip install -q -p .venv -e . -e ../sibling",
        OFF,
        project,
        timeout=300,
    )
    if made.exit_code:
        pytest.skip(f"uv cannot make the environment: {made.stderr[-300:]}")

    command = f"{offline} uv run --no-sync python -c 'import app, helper; print(helper.VALUE)'"
    said = works(command, public={"pyproject.toml"})

    assert said == "app\n42\n"


@pytest.mark.hostile
@pytest.mark.usefixtures("_with_tools")
def test_tox_works_in_an_environment_that_stands(works: Works, project: Path) -> None:
    _write(
        project,
        {
            "tox.ini": "[tox]\nenvlist = x\nskipsdist = true\n[testenv]\n"
            "commands = python -c \"import app, socket; socket.create_server(('127.0.0.1', 0))\"\n"
        },
    )

    assert "app\n" in works("tox -q -e x")
