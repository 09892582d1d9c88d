"""What slipped: a missing call: blanks round the names are kept."""

STYLE = "parsing"
FUNCTION = "settings_file"


def generate(rng):
    lines = ["[x]", "[ y ]", "a=1", "b = 2", " c=", "# a", "", "d= e=f", "nonsense"]
    weights = [3, 3, 4, 4, 2, 1, 1, 2, 0.3]
    return ("\n".join(rng.choices(lines, weights, k=rng.randrange(0, 7))),)
