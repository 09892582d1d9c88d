from tests.support.small_project import guard

__all__ = ["guard"]
