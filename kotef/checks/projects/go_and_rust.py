"""The checks of Go and Rust projects."""

from collections.abc import Iterator
from pathlib import Path

from kotef.checks.project_config import table, toml_of
from kotef.checks.projects import DetectedCheck
from kotef.checks.projects.declared_commands import declared


def checks(root: Path) -> Iterator[DetectedCheck]:
    """`go test` and `go vet` beside a go.mod; `cargo test` beside a Cargo.toml, clippy where it is configured.

    Where the repository declares one plain command of the same runner, its arguments are taken.
    """
    if module := next((name for name in ("go.mod", "go.work") if (root / name).is_file()), ""):
        yield _tests(root, "go test", "go test ./...", module)
        yield DetectedCheck("go vet", "go vet ./...", "lint", module)
    cargo = toml_of(root, "Cargo.toml")
    if cargo:
        workspace = " --workspace" if "workspace" in cargo else ""
        yield _tests(root, "cargo test", f"cargo test{workspace}", "Cargo.toml")
        lints = table(cargo, "lints", "clippy") or table(cargo, "workspace", "lints", "clippy")
        if lints or any((root / name).is_file() for name in ("clippy.toml", ".clippy.toml")):
            yield DetectedCheck(
                "cargo clippy", f"cargo clippy{workspace} --all-targets", "lint", "Cargo.toml: lints.clippy"
            )


def _tests(root: Path, runner: str, usual: str, source: str) -> DetectedCheck:
    for each in declared(root):
        if each.is_suited and each.runner.startswith(f"{runner} "):
            return DetectedCheck(runner, each.runner, "test", each.source)
    return DetectedCheck(runner, usual, "test", source)
