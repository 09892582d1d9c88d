from tests.support.small_project import Open, guard, root

__all__ = ["Open", "guard", "root"]
