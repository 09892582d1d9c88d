"""Sizes in a tree of folders: a file is a number, a folder a dictionary."""


def folder_size(entry):
    """Bytes of a file or of all that is in a folder."""
    if isinstance(entry, int):
        return entry
    total = 0
    for name in entry:
        total = total + folder_size(entry[name])
    return total


def big_folders(folder, limit, path=""):
    """Sorted paths of all folders below this one that hold more than `limit` bytes."""
    found = []
    for name, entry in folder.items():
        if isinstance(entry, int):
            continue
        here = path + "/" + name
        if folder_size(entry) > limit:
            found.append(here)
        found.extend(big_folders(entry, limit, here))
    return sorted(found)
