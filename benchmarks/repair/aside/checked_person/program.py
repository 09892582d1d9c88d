"""Check a form before it is stored."""


class FormError(ValueError):
    """What is wrong, one text per field."""

    def __init__(self, problems):
        super().__init__("; ".join(f"{name}: {text}" for name, text in sorted(problems.items())))
        self.problems = problems


def problems_of(form):
    """field -> what is wrong with it."""
    problems = {}
    name = form.get("name", "").strip()
    if not name:
        problems["name"] = "missing"
    elif len(name) > 20:
        problems["name"] = "too long"
    age = form.get("age")
    if not isinstance(age, int):
        problems["age"] = "not a number"
    elif age < 0 and age > 130:
        problems["age"] = "not possible"
    mail = form.get("mail", "")
    if mail and ("@" not in mail or mail.startswith("@") or mail.endswith("@")):
        problems["mail"] = "not an address"
    return problems


def checked_person(form):
    """(name, age) of a good form; FormError otherwise."""
    problems = problems_of(form)
    if problems:
        raise FormError(problems)
    return form["name"].strip(), form["age"]
