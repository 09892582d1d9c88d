"""How is kotef run with higher caps than a person may ask for?"""

from kotef.__main__ import run


def raise_caps() -> None:
    """Steps and tool calls of a visit, far above what is looked up."""
    from kotef.settings import Limits

    for name in ("max_steps", "max_tool_calls"):
        Limits.model_fields[name].metadata.clear()
        Limits.model_fields[name].default = 1000
    Limits.model_rebuild(force=True)


if __name__ == "__main__":
    raise_caps()
    run()
