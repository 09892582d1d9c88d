"""The pages a printer is asked for."""


def page_ranges(text, last):
    """Sorted page numbers out of '1-3,7,9-'; an open end means the last page, pages beyond it are dropped."""
    pages = set()
    for part in text.split(","):
        part = part.strip()
        if not part:
            continue
        if "-" in part:
            low, high = part.split("-")
            begin = int(low) if low else 1
            end = int(high) if high else last
            pages.update(range(begin, end))
        else:
            pages.add(int(part))
    return sorted(page for page in pages if 1 <= page <= last)
