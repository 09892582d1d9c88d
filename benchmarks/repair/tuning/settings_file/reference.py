"""Read a simple settings file."""


def settings_file(text):
    """section -> {name: value}; '#' and ';' begin a comment line, names before any section belong to ''."""
    result = {}
    section = ""
    for line in text.splitlines():
        line = line.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
            result.setdefault(section, {})
            continue
        name, found, value = line.partition("=")
        if not found:
            raise ValueError(f"not a setting: {line}")
        result.setdefault(section, {})[name.strip()] = value.strip()
    return result
