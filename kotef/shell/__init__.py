"""Command lines as text: which programs would run, what each is for, and whether a model may run it."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.shell.check_commands import (
        Role,
        created_by_the_task,
        judging_files,
        programs_of,
        role_of,
        status_of_failing_tests,
        without_watch,
    )
    from kotef.shell.check_scripts import commands_behind, names_behind
    from kotef.shell.command_links import SHELL_NAME, CommandLink, links, words_of
    from kotef.shell.command_wrappers import (
        STARTERS,
        SUBCOMMANDS,
        TOOL_PURPOSES,
        CommandPurpose,
        Purpose,
        unwrap,
    )
    from kotef.shell.policy import Policy, Ruling, decide_command
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "check_commands": (
                "Role created_by_the_task judging_files programs_of role_of status_of_failing_tests without_watch"
            ),
            "check_scripts": "commands_behind names_behind",
            "command_links": "CommandLink SHELL_NAME links words_of",
            "command_wrappers": "CommandPurpose Purpose STARTERS SUBCOMMANDS TOOL_PURPOSES unwrap",
            "policy": "Policy Ruling decide_command",
        },
    )

__all__ = [
    "SHELL_NAME",
    "STARTERS",
    "SUBCOMMANDS",
    "TOOL_PURPOSES",
    "CommandLink",
    "CommandPurpose",
    "Policy",
    "Purpose",
    "Role",
    "Ruling",
    "commands_behind",
    "created_by_the_task",
    "decide_command",
    "judging_files",
    "links",
    "names_behind",
    "programs_of",
    "role_of",
    "status_of_failing_tests",
    "unwrap",
    "without_watch",
    "words_of",
]
