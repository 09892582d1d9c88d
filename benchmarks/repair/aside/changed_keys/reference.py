"""What changed between two versions of a record."""


def changed_keys(old, new):
    """(added, removed, changed) names, each sorted."""
    added = sorted(new.keys() - old.keys())
    removed = sorted(old.keys() - new.keys())
    changed = sorted(key for key in old.keys() & new.keys() if old[key] != new[key])
    return added, removed, changed


def summary(old, new):
    """'+a -b ~c', or 'no change'."""
    added, removed, changed = changed_keys(old, new)
    marks = [f"+{key}" for key in added] + [f"-{key}" for key in removed] + [f"~{key}" for key in changed]
    return " ".join(marks) or "no change"
