"""Lists of files that a program reads from standard input or from a file: `tar -T -`, `zip -@`."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import UNKNOWN
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.places import holds_secrets

MAX_LISTED = 200


def listed_in(call: ProgramCall, *sources: str) -> list[str]:
    """The files that lists name, as far as known; `-` is standard input."""
    text = ""
    for name in sources:
        if name in ("-", "/dev/stdin"):
            text += (call.stdin or "") + "\n"
        else:
            call.saw(name)
            text += (call.content(name) or "") + "\n"
    # A line of which nothing is known names no file.
    lines = [line for line in re.split("[\0\n]", text) if UNKNOWN.sub("", line).strip()]
    if len(lines) > MAX_LISTED:
        call.scene.too_complex(f"a list names more than {MAX_LISTED} files")
    return lines[:MAX_LISTED]


def leaking(call: ProgramCall, names: list[str], folder: str | None = None) -> bool:
    """True when there are credentials among files, or below them; all of them count as read."""
    base = call.path(folder) if folder else call.shell.cwd
    leaks = False
    for name in names:
        path = call.path(name if name.startswith("/") else f"{base}/{name}")
        call.reads.append(call.name_path(path))
        leaks = leaks or (
            holds_secrets(path, call.place) or call.zone(path) in (Zone.HOME, Zone.ROOT)
        )
    return leaks
