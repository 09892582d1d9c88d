"""One command: what it can touch, how it is started, bounded, read and ended."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.sandbox.checkout import BaseCheckout, base_checkout, resolve_commit
    from kotef.sandbox.confinement import Confinement, confine
    from kotef.sandbox.environment import PROXIES, child_environment
    from kotef.sandbox.levels import SANDBOX_LEVELS, Probed, choose_level, probe_level
    from kotef.sandbox.limits import SandboxLimits
    from kotef.sandbox.output import HeadTail, Log, head_and_tail
    from kotef.sandbox.process import OUTPUT_KEPT, Completed, run_process
    from kotef.sandbox.rooms import Rooms, downloading_room, filling_room, fresh_room
    from kotef.sandbox.sandbox import LEVEL_MEANINGS, OFF, Level, Sandbox, Wanted
    from kotef.sandbox.seed import copy_caches
    from kotef.sandbox.services import reachable_services
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "checkout": "BaseCheckout base_checkout resolve_commit",
            "confinement": "Confinement confine",
            "environment": "PROXIES child_environment",
            "limits": "SandboxLimits",
            "output": "HeadTail Log head_and_tail",
            "levels": "Probed SANDBOX_LEVELS choose_level probe_level",
            "process": "Completed OUTPUT_KEPT run_process",
            "rooms": "Rooms downloading_room filling_room fresh_room",
            "sandbox": "LEVEL_MEANINGS Level OFF Sandbox Wanted",
            "seed": "copy_caches",
            "services": "reachable_services",
        },
    )

__all__ = [
    "LEVEL_MEANINGS",
    "OFF",
    "OUTPUT_KEPT",
    "PROXIES",
    "SANDBOX_LEVELS",
    "BaseCheckout",
    "Completed",
    "Confinement",
    "HeadTail",
    "Level",
    "Log",
    "Probed",
    "Rooms",
    "Sandbox",
    "SandboxLimits",
    "Wanted",
    "base_checkout",
    "child_environment",
    "choose_level",
    "confine",
    "copy_caches",
    "downloading_room",
    "filling_room",
    "fresh_room",
    "head_and_tail",
    "probe_level",
    "reachable_services",
    "resolve_commit",
    "run_process",
]
