"""How is a Maven or Gradle project tested?"""

from collections.abc import Iterator
from pathlib import Path

from kotef.checks.projects import Found


def checks(root: Path) -> Iterator[Found]:
    """The project's wrapper where it has one; Maven before Gradle."""
    if (root / "pom.xml").is_file():
        yield "mvn test", ("./mvnw" if (root / "mvnw").is_file() else "mvn") + " -B test", "test"
    elif any((root / f"{name}.gradle{ending}").is_file() for name in ("build", "settings") for ending in ("", ".kts")):
        yield (
            "gradle test",
            ("./gradlew" if (root / "gradlew").is_file() else "gradle") + " --console=plain test",
            "test",
        )
