"""Flat settings out of nested ones."""


def dotted_keys(tree, prefix=""):
    """{'a': {'b': 1}} becomes {'a.b': 1}; an empty dictionary vanishes."""
    flat = {}
    for key, value in tree.items():
        path = f"{prefix}.{key}" if prefix else key
        if isinstance(value, dict):
            flat.update(dotted_keys(value, path))
        else:
            flat[path] = value
    return flat
