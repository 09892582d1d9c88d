"""What slipped: the wrong variable: the person is put on the pile again, not the friend."""

STYLE = "graphs"
FUNCTION = "circles_of_friends"


def generate(rng):
    return ([(rng.choice("abcdefgh"), rng.choice("abcdefgh")) for _ in range(rng.randrange(0, 8))],)
