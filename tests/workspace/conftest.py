from tests.support.workspace import own_state, root, user_git

__all__ = ["own_state", "root", "user_git"]
