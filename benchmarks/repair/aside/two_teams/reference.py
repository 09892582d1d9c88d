"""Split rivals into two teams."""


def two_teams(people, rivals):
    """Two sorted lists without rivals in one team, the first person in the first; None if impossible.

    Whoever has no rival on either side, and the first of every separate group, joins the first team.
    """
    against = {person: [] for person in people}
    for one, other in rivals:
        against[one].append(other)
        against[other].append(one)
    team = {}
    for person in people:
        if person in team:
            continue
        team[person] = 0
        queue = [person]
        for current in queue:
            for rival in against[current]:
                if rival not in team:
                    team[rival] = 1 - team[current]
                    queue.append(rival)
                elif team[rival] == team[current]:
                    return None
    return sorted(p for p in people if team[p] == 0), sorted(p for p in people if team[p] == 1)
