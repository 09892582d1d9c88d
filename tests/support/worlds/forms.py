"""Forms of one and the same code: names reached in other ways, statements that are hidden."""

import base64
from random import Random

WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty", "knoll", "lagoon")


def word(rng: Random) -> str:
    """A name that means nothing."""
    return f"{rng.choice(WORDS)}_{rng.choice(WORDS)}{rng.randrange(100)}"


def member(rng: Random, module: str, name: str) -> str:
    """An expression for `module.name`, which needs no import of its own."""
    at = rng.randrange(1, len(name))
    halves = f"'{name[:at]}' + '{name[at:]}'"
    loaded = rng.choice(
        (f"__import__('importlib').import_module('{module}')", f"__import__('sys').modules['{module}']")
    )
    if "." not in module:
        loaded = rng.choice((loaded, f"__import__('{module}')"))
    if loaded.startswith("__import__('sys')"):
        loaded = f"(__import__('{module}') and {loaded})"
    forms = (
        f"{loaded}.{name}",
        f"getattr({loaded}, {halves})",
        f"vars({loaded})['{name}']",
        f"__import__('operator').attrgetter('{name}')({loaded})",
    )
    return rng.choice(forms)


def put(rng: Random, module: str, name: str, value: str) -> str:
    """A statement that gives `module.name` another value; the last part of `module` may be a class."""
    holder, _, last = module.rpartition(".")
    if last[:1].isupper():
        target, loaded = f"_m.{last}", holder
    else:
        target, loaded = "_m", module
    imported = rng.choice(
        (
            f"import importlib as _i\n_m = _i.import_module('{loaded}')",
            f"import sys as _s\nimport {loaded}\n_m = _s.modules['{loaded}']",
        )
    )
    form = rng.choice(("assign", "setattr", "dict", "patch"))
    if form == "dict" and target == "_m":
        return f"{imported}\nvars(_m)['{name}'] = {value}\n"
    if form == "patch":
        return f"{imported}\nfrom unittest import mock as _k\n_k.patch.object({target}, '{name}', {value}).start()\n"
    if form == "setattr":
        return f"{imported}\nsetattr({target}, '{name}', {value})\n"
    return f"{imported}\n{target}.{name} = {value}\n"


def hidden(rng: Random, code: str) -> tuple[str, str]:
    """The statements as they are, or in a form that a reader does not see through, and the form's name."""
    form = rng.choice(("plain", "plain", "class", "function", "exec", "compile", "base64", "hex"))
    match form:
        case "class":
            inner = "".join(f"    {line}\n" if line else "\n" for line in code.splitlines())
            return form, f"class _{word(rng).title().replace('_', '')}:\n{inner}"
        case "function":
            name = f"_{word(rng)}"
            inner = "".join(f"    {line}\n" if line else "\n" for line in code.splitlines())
            return form, f"def {name}():\n{inner}\n\n{name}()\n"
        case "exec":
            return form, f"exec({code!r}, globals())\n"
        case "compile":
            return form, f"exec(compile({code!r}, '{word(rng)}', 'exec'), globals())\n"
        case "base64":
            packed = base64.b64encode(code.encode()).decode()
            return form, f"import base64\n\nexec(base64.b64decode('{packed}').decode(), globals())\n"
        case "hex":
            return form, f"exec(bytes.fromhex('{code.encode().hex()}').decode(), globals())\n"
    return form, code


def indented(code: str, by: int = 4) -> str:
    """The lines, farther to the right."""
    return "".join(f"{' ' * by}{line}\n" if line else "\n" for line in code.splitlines())
