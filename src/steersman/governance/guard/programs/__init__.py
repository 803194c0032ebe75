"""The programs the guard knows, by name. Later modules override earlier ones."""

from collections.abc import Callable

from steersman.governance.guard.call import Call
from steersman.governance.guard.programs import (
    containers,
    databases,
    files,
    git,
    interpreters,
    network,
    packages,
    shells,
    system,
    texts,
    tools,
    trees,
    verbs,
    wrappers,
)

HANDLERS: dict[str, Callable[[Call], None]] = {}
for _module in (
    tools,
    verbs,
    system,
    wrappers,
    interpreters,
    databases,
    texts,
    files,
    trees,
    network,
    packages,
    containers,
    git,
    shells,
):
    HANDLERS.update(_module.HANDLERS)

RISKY = (
    "rm",
    "dd",
    "shred",
    "mkfs",
    "bash",
    "sh",
    "curl",
    "wget",
    "nc",
    "mv",
    "cp",
    "chmod",
    "chown",
    "kill",
    "sudo",
    "python3",
    "perl",
    "find",
    "cat",
    "tee",
    "reboot",
    "shutdown",
    "rmdir",
    "unlink",
)
