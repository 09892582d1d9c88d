"""How are Go and Rust projects tested and linted?"""

from collections.abc import Iterator
from pathlib import Path

from kotef.checks.files import table, toml_of
from kotef.checks.projects import Found


def checks(root: Path) -> Iterator[Found]:
    """`go test` and `go vet` beside a go.mod; `cargo test` beside a Cargo.toml, clippy where it is configured."""
    if (root / "go.mod").is_file() or (root / "go.work").is_file():
        yield "go test", "go test ./...", "test"
        yield "go vet", "go vet ./...", "lint"
    cargo = toml_of(root, "Cargo.toml")
    if cargo:
        workspace = " --workspace" if "workspace" in cargo else ""
        yield "cargo test", f"cargo test{workspace}", "test"
        lints = table(cargo, "lints", "clippy") or table(cargo, "workspace", "lints", "clippy")
        if lints or any((root / name).is_file() for name in ("clippy.toml", ".clippy.toml")):
            yield "cargo clippy", f"cargo clippy{workspace} --all-targets", "lint"
