"""Which of two versions is newer?"""


def parts(version):
    """The numbers of '1.10.2' without zeros at the end; a leading v is allowed."""
    numbers = [int(part) for part in version.lstrip("v").split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers


def newer_version(first, second):
    """The newer one as it was written; the first of equals."""
    if parts(second) > parts(first):
        return second
    return first


def newest(versions):
    """The newest of a list; None of an empty one."""
    best = None
    for version in versions:
        best = version if best is None else newer_version(best, version)
    return best
