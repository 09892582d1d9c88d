"""Settings in layers."""


def layered(base, over):
    """`base` with the values of `over`; dictionaries inside are merged likewise, neither argument changes."""
    merged = base
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = layered(merged[key], value)
        else:
            merged[key] = value
    return merged


def effective(*layers):
    """All layers, later ones win."""
    result = {}
    for layer in layers:
        result = layered(result, layer)
    return result
