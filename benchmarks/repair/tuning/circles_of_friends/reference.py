"""Who knows whom."""


def neighbours(pairs):
    """person -> set of all they know; acquaintance is mutual."""
    known = {}
    for one, other in pairs:
        known.setdefault(one, set()).add(other)
        known.setdefault(other, set()).add(one)
    return known


def circles_of_friends(pairs):
    """Sorted lists of people connected by any chain of acquaintance, the largest first."""
    known = neighbours(pairs)
    seen = set()
    circles = []
    for person in sorted(known):
        if person in seen:
            continue
        seen.add(person)
        circle = []
        pile = [person]
        while pile:
            current = pile.pop()
            circle.append(current)
            for friend in known[current]:
                if friend not in seen:
                    seen.add(friend)
                    pile.append(friend)
        circles.append(sorted(circle))
    return sorted(circles, key=lambda circle: (-len(circle), circle))
