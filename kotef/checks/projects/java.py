"""The test command of a Maven or Gradle project."""

from collections.abc import Iterator
from pathlib import Path

from kotef.checks.projects import DetectedCheck

_GRADLE = tuple(f"{name}.gradle{ending}" for name in ("build", "settings") for ending in ("", ".kts"))


def checks(root: Path) -> Iterator[DetectedCheck]:
    """The project's wrapper where it has one; Maven before Gradle."""
    if (root / "pom.xml").is_file():
        program = "./mvnw" if (root / "mvnw").is_file() else "mvn"
        yield DetectedCheck("mvn test", f"{program} -B test", "test", "pom.xml")
    elif source := next((name for name in _GRADLE if (root / name).is_file()), ""):
        program = "./gradlew" if (root / "gradlew").is_file() else "gradle"
        yield DetectedCheck("gradle test", f"{program} --console=plain test", "test", source)
